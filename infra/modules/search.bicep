// Azure AI Search, by Entra ID only. Its own identity lets it embed questions (KB_SEARCH_VECTORIZER).
param name string
param location string
param tags object
param sku string
param semanticRanker string
@description('Who may do what: [{principalId, principalType, roleId}].')
param access array
param workspaceId string

resource service 'Microsoft.Search/searchServices@2025-05-01' = {
  name: name
  location: location
  tags: tags
  sku: { name: sku }
  identity: { type: 'SystemAssigned' }
  properties: {
    disableLocalAuth: true
    semanticSearch: semanticRanker
    replicaCount: 1
    partitionCount: 1
    hostingMode: 'Default'
    publicNetworkAccess: 'Enabled'
  }
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in access: {
  name: guid(service.id, grant.principalId, grant.roleId)
  scope: service
  properties: {
    principalId: grant.principalId
    principalType: grant.principalType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', grant.roleId)
  }
}]

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'kb'
  scope: service
  properties: {
    workspaceId: workspaceId
    logs: [{ categoryGroup: 'allLogs', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

output name string = service.name
output id string = service.id
output endpoint string = 'https://${service.name}.search.windows.net'
output principalId string = service.identity.principalId
