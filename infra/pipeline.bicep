// The pipeline as a container app of one replica: code server (which also runs the runs), webserver and daemon side by
// side. The code server listens on the replica's loopback, since who reaches it runs code; people reach the Dagster UI
// only, and only those named in DAGSTER_USERS.
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
@description('Object ids of who may use the Dagster UI, separated by commas; at least one, because it starts runs and removes articles.')
@minLength(36)
param dagsterUsers string
@allowed(['small', 'large'])
@description('How many articles are built at once: small: one; large: three.')
param size string = 'small'
@description('Whether the app was there before: "true" or "false".')
param exists string = 'false'
param historyServer string
param logsAccount string
param applicationInsights string
@description('Further names by which it is reached, such as a custom domain, separated by commas.')
param otherHosts string = ''
@description('KB_* settings by name; empty ones are left out.')
param settings object
@description('Makes KB_HOME writable for us on a new share; any image with a shell that runs as root.')
param initImage string = 'mcr.microsoft.com/azurelinux/base/core:3.0'

var name = 'kb-pipeline'

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

var given = [for setting in items(settings): { name: setting.key, value: string(setting.value) }]
var env = concat(
  [
    { name: 'AZURE_CLIENT_ID', value: identity.properties.clientId }
    { name: 'AZURE_TOKEN_CREDENTIALS', value: 'ManagedIdentityCredential' }
    { name: 'APPLICATIONINSIGHTS_CONNECTION_STRING', value: insights.properties.ConnectionString }
    { name: 'DAGSTER_HOME', value: '/opt/dagster/azure' }
    { name: 'DAGSTER_PG_HOST', value: historyServer }
    { name: 'DAGSTER_PG_USERNAME', value: identityName }
    { name: 'DAGSTER_PG_DB', value: 'dagster' }
    { name: 'DAGSTER_LOGS_ACCOUNT', value: logsAccount }
    { name: 'KB_CODE_SERVER_HOST', value: '127.0.0.1' }
    { name: 'KB_CODE_SERVER_PORT', value: '4000' }
    { name: 'KB_HOME', value: '/data/kb' }
    { name: 'KB_WORKERS', value: size == 'large' ? '3' : '1' }
    { name: 'KB_ALLOWED_HOSTS', value: '${name}.${environment.properties.defaultDomain},${otherHosts}' }
  ],
  filter(given, setting => !empty(setting.value))
)
var mounts = [{ volumeName: 'home', mountPath: '/data' }]
var workspace = '/opt/dagster/workspace.yaml'

var containers = [
  {
    name: 'code'
    image: image
    command: ['dagster', 'api', 'grpc', '-h', '127.0.0.1', '-p', '4000', '-m', 'kb_pipeline.definitions']
    env: env
    volumeMounts: mounts
    resources: size == 'large' ? { cpu: json('3'), memory: '6Gi' } : { cpu: json('1'), memory: '2Gi' }
  }
  {
    name: 'webserver'
    image: image
    command: ['kb-webserver', '-h', '0.0.0.0', '-p', '3000', '-w', workspace]
    env: env
    resources: { cpu: json('0.5'), memory: '1Gi' }
    probes: [
      { type: 'Startup', httpGet: { path: '/server_info', port: 3000 }, periodSeconds: 5, failureThreshold: 48 }
      { type: 'Readiness', httpGet: { path: '/server_info', port: 3000 }, periodSeconds: 10, timeoutSeconds: 5 }
      { type: 'Liveness', httpGet: { path: '/server_info', port: 3000 }, periodSeconds: 30, timeoutSeconds: 10, failureThreshold: 5 }
    ]
  }
  {
    name: 'daemon'
    image: image
    command: ['dagster-daemon', 'run', '-w', workspace]
    env: env
    resources: { cpu: json('0.5'), memory: '1Gi' }
  }
]
var initContainers = [
  {
    name: 'own-home'
    image: initImage
    command: ['/bin/sh', '-c', 'mkdir -p /data/kb && chown 1000:1000 /data/kb && chmod 755 /data']
    volumeMounts: mounts
    resources: { cpu: json('0.25'), memory: '0.5Gi' }
  }
]
var app = {
  name: name
  location: location
  tags: { 'azd-env-name': environmentName, 'azd-service-name': 'pipeline' }
  environmentId: environment.id
  registry: registry
  identityId: identity.id
  signInIdentityId: signInIdentity.id
  signInClientId: signInIdentity.properties.clientId
  authClientId: authClientId
  allowedUsers: map(split(dagsterUsers, ','), user => trim(user))
  targetPort: 3000
  sticky: false
  initContainers: initContainers
  containers: containers
  volumes: [{ name: 'home', storageType: 'NfsAzureFile', storageName: 'home' }]
  minReplicas: 1 // the daemon watches the staging container
  maxReplicas: 1
}

// a new app is closed until its sign-in stands
module closed 'modules/guarded_app.bicep' = if (exists != 'true') {
  params: { app: app, external: false }
}

module open 'modules/guarded_app.bicep' = {
  params: { app: app, external: true }
  dependsOn: [closed]
}

output PIPELINE_URL string = open.outputs.url
