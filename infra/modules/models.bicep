// A Foundry resource (kind AIServices) with the model deployments: Azure OpenAI, Content Understanding, Mistral.
// By Entra ID only.
param name string
param location string
param tags object
@description('[{name, model, format, version, sku, capacity}]')
param deployments array
@description('Who may do what: [{principalId, principalType, roleId}].')
param access array
param workspaceId string

resource account 'Microsoft.CognitiveServices/accounts@2026-05-01' = {
  name: name
  location: location
  tags: tags
  kind: 'AIServices'
  sku: { name: 'S0' }
  identity: { type: 'SystemAssigned' }
  properties: {
    customSubDomainName: name
    disableLocalAuth: true
    allowProjectManagement: true
    publicNetworkAccess: 'Enabled'
  }
}

// one after the other: the account refuses two at once
@batchSize(1)
resource made 'Microsoft.CognitiveServices/accounts/deployments@2026-05-01' = [for deployment in deployments: {
  parent: account
  name: deployment.name
  sku: { name: deployment.sku, capacity: deployment.capacity }
  properties: {
    model: {
      name: deployment.model
      format: deployment.format
      version: deployment.version
    }
    // a model that changes by itself would change what is made with it
    versionUpgradeOption: 'OnceCurrentVersionExpired'
  }
}]

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
  scope: account
  properties: {
    workspaceId: workspaceId
    logs: [{ categoryGroup: 'audit', enabled: true }]
    metrics: [{ category: 'AllMetrics', enabled: true }]
  }
}

output name string = account.name
output id string = account.id
output openAIEndpoint string = 'https://${account.name}.openai.azure.com'
output foundryEndpoint string = 'https://${account.name}.services.ai.azure.com'
