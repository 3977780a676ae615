// Where the container apps run, with KB_HOME as a volume: one to write for the pipeline, one to read for the app.
param name string
param location string
param tags object
param subnetId string
param shareServer string
param sharePath string
param workspaceId string

resource environment 'Microsoft.App/managedEnvironments@2026-01-01' = {
  name: name
  location: location
  tags: tags
  properties: {
    appLogsConfiguration: { destination: 'azure-monitor' }
    vnetConfiguration: { infrastructureSubnetId: subnetId, internal: false }
    workloadProfiles: [{ name: 'Consumption', workloadProfileType: 'Consumption' }]
    peerTrafficConfiguration: { encryption: { enabled: true } }
  }

  resource home 'storages' = {
    name: 'home'
    properties: {
      nfsAzureFile: { server: shareServer, shareName: sharePath, accessMode: 'ReadWrite' }
    }
  }

  resource homeToRead 'storages' = {
    name: 'home-to-read'
    properties: {
      nfsAzureFile: { server: shareServer, shareName: sharePath, accessMode: 'ReadOnly' }
    }
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'kb'
  scope: environment
  properties: {
    workspaceId: workspaceId
    logs: [{ categoryGroup: 'allLogs', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

output name string = environment.name
output domain string = environment.properties.defaultDomain
