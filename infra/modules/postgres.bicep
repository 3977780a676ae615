// Dagster's history. No password exists: the pipeline's identity is the server's administrator, and nobody else may
// sign in. Reached from the container apps' network only.
param name string
param location string
param tags object
param subnetId string
param dnsZoneId string
@description('{name, principalId} of an identity.')
param administrator object
param workspaceId string
@allowed(['small', 'large'])
param size string

resource server 'Microsoft.DBforPostgreSQL/flexibleServers@2025-08-01' = {
  name: name
  location: location
  tags: tags
  sku: size == 'large' ? { name: 'Standard_D2ds_v5', tier: 'GeneralPurpose' } : { name: 'Standard_B1ms', tier: 'Burstable' }
  properties: {
    version: '17'
    storage: { storageSizeGB: 32, autoGrow: 'Enabled' }
    authConfig: {
      activeDirectoryAuth: 'Enabled'
      passwordAuth: 'Disabled'
      tenantId: tenant().tenantId
    }
    backup: { backupRetentionDays: 7, geoRedundantBackup: 'Disabled' }
    network: {
      delegatedSubnetResourceId: subnetId
      privateDnsZoneArmResourceId: dnsZoneId
      publicNetworkAccess: 'Disabled'
    }
    highAvailability: { mode: 'Disabled' }
  }
}

resource database 'Microsoft.DBforPostgreSQL/flexibleServers/databases@2025-08-01' = {
  parent: server
  name: 'dagster'
}

// after the database: the server does one thing at a time
resource signIn 'Microsoft.DBforPostgreSQL/flexibleServers/administrators@2025-08-01' = {
  parent: server
  name: administrator.principalId
  properties: {
    principalName: administrator.name
    principalType: 'ServicePrincipal'
    tenantId: tenant().tenantId
  }
  dependsOn: [database]
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'kb'
  scope: server
  properties: {
    workspaceId: workspaceId
    logs: [{ categoryGroup: 'audit', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

output server string = server.properties.fullyQualifiedDomainName
