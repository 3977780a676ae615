// A container app that nobody reaches without having signed in (Easy Auth), and without any secret: an identity that the
// app registration trusts stands for one. The platform knows it by the name of the secret, whose value is a client id.
@description('{name, location, tags, environmentId, registry, identityId, signInIdentityId, signInClientId, authClientId, allowedUsers, targetPort, sticky, initContainers, containers, volumes, minReplicas, maxReplicas}; allowedUsers are object ids, none: all who may use the app registration.')
param app object

@description('False: reached from inside the environment only.')
param external bool

var signInSecret = 'override-use-mi-fic-assertion-client-id'

resource guarded 'Microsoft.App/containerApps@2026-01-01' = {
  name: app.name
  location: app.location
  tags: app.tags
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: {
      '${app.identityId}': {}
      '${app.signInIdentityId}': {}
    }
  }
  properties: {
    environmentId: app.environmentId
    workloadProfileName: 'Consumption'
    configuration: {
      activeRevisionsMode: 'Single'
      secrets: [{ name: signInSecret, value: app.signInClientId }]
      registries: [{ server: app.registry, identity: app.identityId }]
      ingress: {
        external: external
        targetPort: app.targetPort
        transport: 'auto'
        allowInsecure: false
        stickySessions: { affinity: app.sticky ? 'sticky' : 'none' }
      }
    }
    template: {
      initContainers: app.initContainers
      containers: app.containers
      volumes: app.volumes
      scale: { minReplicas: app.minReplicas, maxReplicas: app.maxReplicas }
      terminationGracePeriodSeconds: 60
    }
  }

  resource signIn 'authConfigs' = {
    name: 'current'
    properties: {
      platform: { enabled: true }
      globalValidation: {
        unauthenticatedClientAction: 'RedirectToLoginPage'
        redirectToProvider: 'azureactivedirectory'
      }
      httpSettings: { requireHttps: true }
      identityProviders: {
        azureActiveDirectory: {
          enabled: true
          registration: {
            clientId: app.authClientId
            clientSecretSettingName: signInSecret
            openIdIssuer: '${environment().authentication.loginEndpoint}${tenant().tenantId}/v2.0'
          }
          validation: {
            allowedAudiences: [app.authClientId]
            defaultAuthorizationPolicy: empty(app.allowedUsers) ? {} : { allowedPrincipals: { identities: app.allowedUsers } }
          }
        }
      }
    }
  }
}

output url string = 'https://${guarded.properties.configuration.ingress.fqdn}'
