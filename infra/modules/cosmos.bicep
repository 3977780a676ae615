// Conversations, by Entra ID only and from the container apps' network only. Database and container are made here,
// because the role that reads and writes items may not make them.
param name string
param location string
param tags object
param subnetId string
param agentPrincipalId string
param workspaceId string

// "Cosmos DB Built-in Data Contributor", a role of the account's own kind
var dataContributor = '00000000-0000-0000-0000-000000000002'

resource account 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' = {
  name: name
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    capabilities: [{ name: 'EnableServerless' }]
    locations: [{ locationName: location, failoverPriority: 0 }]
    consistencyPolicy: { defaultConsistencyLevel: 'Session' }
    disableLocalAuth: true
    minimalTlsVersion: 'Tls12'
    isVirtualNetworkFilterEnabled: true
    virtualNetworkRules: [{ id: subnetId }]
    backupPolicy: {
      type: 'Continuous'
      continuousModeProperties: { tier: 'Continuous7Days' }
    }
  }

  resource database 'sqlDatabases' = {
    name: 'kb'
    properties: {
      resource: { id: 'kb' }
    }

    resource container 'containers' = {
      name: 'conversations'
      properties: {
        resource: {
          id: 'conversations'
          partitionKey: { paths: ['/userId'], kind: 'Hash', version: 2 }
          indexingPolicy: {
            indexingMode: 'consistent'
            includedPaths: [{ path: '/*' }]
            excludedPaths: [{ path: '/entries/*' }, { path: '/"_etag"/?' }]
          }
        }
      }
    }
  }

  resource appAccess 'sqlRoleAssignments' = {
    name: guid(name, agentPrincipalId, dataContributor)
    properties: {
      principalId: agentPrincipalId
      roleDefinitionId: '${account.id}/sqlRoleDefinitions/${dataContributor}'
      scope: account.id
    }
  }
}

resource diagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'kb'
  scope: account
  properties: {
    workspaceId: workspaceId
    logs: [{ category: 'ControlPlaneRequests', enabled: true }]
    metrics: [{ category: 'Requests', enabled: true }]
  }
}

output endpoint string = 'https://${account.name}.documents.azure.com'
