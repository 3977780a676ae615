// A storage account for blobs: no account keys, no public access, deleted blobs kept for a week.
param name string
param location string
param tags object
param containers array
@description('Who may do what: [{principalId, principalType, roleId}].')
param access array
param workspaceId string

resource account 'Microsoft.Storage/storageAccounts@2025-08-01' = {
  name: name
  location: location
  tags: tags
  kind: 'StorageV2'
  sku: { name: 'Standard_ZRS' }
  properties: {
    allowSharedKeyAccess: false
    allowBlobPublicAccess: false
    allowCrossTenantReplication: false
    defaultToOAuthAuthentication: true
    minimumTlsVersion: 'TLS1_2'
    supportsHttpsTrafficOnly: true
  }

  resource blobs 'blobServices' = {
    name: 'default'
    properties: {
      deleteRetentionPolicy: { enabled: true, days: 7 }
      containerDeleteRetentionPolicy: { enabled: true, days: 7 }
    }

    resource made 'containers' = [for container in containers: {
      name: container
      properties: { publicAccess: 'None' }
    }]
  }
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in access: {
  name: guid(account.id, grant.principalId, grant.roleId)
  scope: account
  properties: {
    principalId: grant.principalId
    principalType: grant.principalType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', grant.roleId)
  }
}]

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'kb'
  scope: account::blobs
  properties: {
    workspaceId: workspaceId
    logs: [{ categoryGroup: 'audit', enabled: true }]
    metrics: [{ category: 'Transaction', enabled: true }]
  }
}

output name string = account.name
output id string = account.id
output host string = '${account.name}.dfs.${environment().suffixes.storage}'
