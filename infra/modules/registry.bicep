// Where the two images are built and kept.
param name string
param location string
param tags object
@description('Who may do what: [{principalId, principalType, roleId}].')
param access array
param workspaceId string

resource registry 'Microsoft.ContainerRegistry/registries@2025-11-01' = {
  name: name
  location: location
  tags: tags
  sku: { name: 'Basic' }
  properties: {
    adminUserEnabled: false
    anonymousPullEnabled: false
  }
}

resource assignments 'Microsoft.Authorization/roleAssignments@2022-04-01' = [for grant in access: {
  name: guid(registry.id, grant.principalId, grant.roleId)
  scope: registry
  properties: {
    principalId: grant.principalId
    principalType: grant.principalType
    roleDefinitionId: subscriptionResourceId('Microsoft.Authorization/roleDefinitions', grant.roleId)
  }
}]

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'kb'
  scope: registry
  properties: {
    workspaceId: workspaceId
    logs: [{ categoryGroup: 'audit', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

output server string = registry.properties.loginServer
