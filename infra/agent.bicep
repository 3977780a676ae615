// The agent service as a container app: what programs and the chat page call. It has no Easy Auth, which would tell a
// person from a program no better: the service itself checks the token of every request (docs/asking.md).
param location string = resourceGroup().location
param environmentName string
param containerEnvironment string
param registry string
@description('As azd built and pushed it.')
param image string
param identityName string
@minLength(36)
@description('Client id of the app registration for which tokens are made.')
param authClientId string
@allowed(['small', 'large'])
@description('small: no replica while nobody asks; large: always two, and up to ten.')
param size string = 'small'
param applicationInsights string
param dagsterUrl string
@description('Further names by which it is reached, such as a custom domain, separated by commas.')
param otherHosts string = ''
@description('Sites whose pages may call it from a browser, separated by commas.')
param corsOrigins string = ''
@allowed(['proxy', 'sas'])
@description('Addresses of pictures for programs: of the service, which checks who asks, or links into the storage account.')
param imageUrls string = 'proxy'
@description('KB_* settings by name; empty ones are left out.')
param settings object

var name = 'kb-agent'

resource environment 'Microsoft.App/managedEnvironments@2026-01-01' existing = {
  name: containerEnvironment
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: identityName
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsights
}

var given = [for setting in items(settings): { name: setting.key, value: string(setting.value) }]
var env = concat(
  [
    { name: 'AZURE_CLIENT_ID', value: identity.properties.clientId }
    { name: 'AZURE_TOKEN_CREDENTIALS', value: 'ManagedIdentityCredential' }
    { name: 'APPLICATIONINSIGHTS_CONNECTION_STRING', value: insights.properties.ConnectionString }
    { name: 'KB_APP_HOST', value: '0.0.0.0' }
    { name: 'KB_TOKEN_ISSUER', value: '${az.environment().authentication.loginEndpoint}${tenant().tenantId}/v2.0' }
    { name: 'KB_TOKEN_AUDIENCE', value: authClientId }
    { name: 'KB_ALLOWED_HOSTS', value: '${name}.${environment.properties.defaultDomain},${otherHosts}' }
    { name: 'KB_CORS_ORIGINS', value: corsOrigins }
    { name: 'KB_IMAGE_URLS', value: imageUrls }
    { name: 'KB_DAGSTER_URL', value: dagsterUrl }
    { name: 'KB_HOME', value: '/data/kb' }
  ],
  filter(given, setting => !empty(setting.value))
)

var containers = [
  {
    name: 'agent'
    image: image
    command: ['python', '-m', 'app']
    env: env
    volumeMounts: [{ volumeName: 'home', mountPath: '/data' }]
    resources: { cpu: json('1'), memory: '2Gi' }
    probes: [
      { type: 'Startup', httpGet: { path: '/readiness', port: 8088 }, periodSeconds: 3, failureThreshold: 40 }
      { type: 'Readiness', httpGet: { path: '/readiness', port: 8088 }, periodSeconds: 10, timeoutSeconds: 5 }
      { type: 'Liveness', httpGet: { path: '/readiness', port: 8088 }, periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 5 }
    ]
  }
]
var tags = { 'azd-env-name': environmentName, 'azd-service-name': 'agent' }

resource agent 'Microsoft.App/containerApps@2026-01-01' = {
  name: name
  location: location
  tags: tags
  identity: {
    type: 'UserAssigned'
    userAssignedIdentities: { '${identity.id}': {} }
  }
  properties: {
    environmentId: environment.id
    workloadProfileName: 'Consumption'
    configuration: {
      activeRevisionsMode: 'Single'
      registries: [{ server: registry, identity: identity.id }]
      ingress: {
        external: true
        targetPort: 8088
        transport: 'auto'
        allowInsecure: false
      }
    }
    template: {
      containers: containers
      volumes: [{ name: 'home', storageType: 'NfsAzureFile', storageName: 'home-to-read' }]
      scale: {
        minReplicas: size == 'large' ? 2 : 0
        maxReplicas: size == 'large' ? 10 : 3
        // an answer takes seconds, most of them waiting for the model
        rules: [{ name: 'http', http: { metadata: { concurrentRequests: '20' } } }]
      }
      terminationGracePeriodSeconds: 60
    }
  }
}

output AGENT_URL string = 'https://${agent.properties.configuration.ingress.fqdn}'
