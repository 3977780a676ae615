// The chat page as a container app. It asks the agent service with a token of its identity, and tells it who is signed in.
param location string = resourceGroup().location
param environmentName string
param containerEnvironment string
param registry string
@description('As azd built and pushed it.')
param image string
param identityName string
param signInIdentityName string
@minLength(36)
@description('Client id of the app registration by which people sign in.')
param authClientId string
@description('Object ids of who may ask, separated by commas; empty: everybody of the tenant who may use the app registration.')
param appUsers string = ''
@description('Address of the agent service.')
param agentUrl string
@allowed(['small', 'large'])
@description('small: no replica while nobody looks; large: always one, and up to five.')
param size string = 'small'
@description('Whether the app was there before: "true" or "false".')
param exists string = 'false'
param applicationInsights string
@description('Further names by which it is reached, such as a custom domain, separated by commas.')
param otherHosts string = ''

var name = 'kb-app'

resource environment 'Microsoft.App/managedEnvironments@2026-01-01' existing = {
  name: containerEnvironment
}

resource identity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: identityName
}

resource signInIdentity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' existing = {
  name: signInIdentityName
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsights
}

var env = [
  { name: 'AZURE_CLIENT_ID', value: identity.properties.clientId }
  { name: 'AZURE_TOKEN_CREDENTIALS', value: 'ManagedIdentityCredential' }
  { name: 'APPLICATIONINSIGHTS_CONNECTION_STRING', value: insights.properties.ConnectionString }
  { name: 'KB_APP_URL', value: agentUrl }
  { name: 'KB_APP_SCOPE', value: 'api://${authClientId}/.default' }
  { name: 'KB_EASY_AUTH', value: 'true' }
  { name: 'KB_ALLOWED_HOSTS', value: '${name}.${environment.properties.defaultDomain},${otherHosts}' }
]

var containers = [
  {
    name: 'page'
    image: image
    command: ['python', '-m', 'app.page', '--host', '0.0.0.0', '--port', '8501']
    env: env
    resources: { cpu: json('0.5'), memory: '1Gi' }
    probes: [
      { type: 'Startup', httpGet: { path: '/_stcore/health', port: 8501 }, periodSeconds: 3, failureThreshold: 40 }
      { type: 'Readiness', httpGet: { path: '/_stcore/health', port: 8501 }, periodSeconds: 10 }
      { type: 'Liveness', httpGet: { path: '/_stcore/health', port: 8501 }, periodSeconds: 30, failureThreshold: 5 }
    ]
  }
]
var app = {
  name: name
  location: location
  tags: { 'azd-env-name': environmentName, 'azd-service-name': 'app' }
  environmentId: environment.id
  registry: registry
  identityId: identity.id
  signInIdentityId: signInIdentity.id
  signInClientId: signInIdentity.properties.clientId
  authClientId: authClientId
  allowedUsers: empty(appUsers) ? [] : map(split(appUsers, ','), user => trim(user))
  targetPort: 8501
  sticky: true
  initContainers: []
  containers: containers
  volumes: []
  minReplicas: size == 'large' ? 1 : 0
  maxReplicas: size == 'large' ? 5 : 2
}

// a new app is closed until its sign-in stands
module closed 'modules/guarded_app.bicep' = if (exists != 'true') {
  params: { app: app, external: false }
}

module open 'modules/guarded_app.bicep' = {
  params: { app: app, external: true }
  dependsOn: [closed]
}

output APP_URL string = open.outputs.url
