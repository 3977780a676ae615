// A network for diagnosis: its graph, and its telemetry, reached from the container apps' network only. Gremlin knows no
// Entra ID but keys, which nothing here reads or hands on. Databases, graph and containers are made here, because the
// roles that read and write items may not make them.
param token string
param location string
param tags object
param subnetId string
param pipelinePrincipalId string
param agentPrincipalId string
param workspaceId string
@description('The containers of telemetry that scenarios declare: name, partition key (the element), and time.')
param containers array

// "Cosmos DB Built-in Data Reader" and "… Data Contributor", roles of the account's own kind
var dataReader = '00000000-0000-0000-0000-000000000001'
var dataContributor = '00000000-0000-0000-0000-000000000002'

resource graph 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' = {
  name: 'kb-graph-${token}'
  location: location
  tags: tags
  kind: 'GlobalDocumentDB'
  properties: {
    databaseAccountOfferType: 'Standard'
    capabilities: [{ name: 'EnableGremlin' }, { name: 'EnableServerless' }]
    locations: [{ locationName: location, failoverPriority: 0 }]
    consistencyPolicy: { defaultConsistencyLevel: 'Session' }
    minimalTlsVersion: 'Tls12'
    isVirtualNetworkFilterEnabled: true
    virtualNetworkRules: [{ id: subnetId }]
    backupPolicy: {
      type: 'Periodic'
    }
  }

  resource database 'gremlinDatabases' = {
    name: 'networkgraph'
    properties: {
      resource: { id: 'networkgraph' }
    }

    resource topology 'graphs' = {
      name: 'topology'
      properties: {
        resource: {
          id: 'topology'
          partitionKey: { paths: ['/partitionKey'], kind: 'Hash', version: 2 }
        }
      }
    }
  }
}

resource telemetry 'Microsoft.DocumentDB/databaseAccounts@2025-10-15' = {
  name: 'kb-telemetry-${token}'
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
      type: 'Periodic'
    }
  }

  resource database 'sqlDatabases' = {
    name: 'telemetrydb'
    properties: {
      resource: { id: 'telemetrydb' }
    }

    resource container 'containers' = [
      for each in containers: {
        name: each.name
        properties: {
          resource: {
            id: each.name
            partitionKey: { paths: ['/${each.partitionKey}'], kind: 'Hash', version: 2 }
            indexingPolicy: {
              indexingMode: 'consistent'
              includedPaths: [{ path: '/*' }]
              excludedPaths: [{ path: '/"_etag"/?' }]
              compositeIndexes: [
                [
                  { path: '/${each.partitionKey}', order: 'ascending' }
                  { path: '/${each.time}', order: 'ascending' }
                ]
              ]
            }
          }
        }
      }
    ]
  }

  resource reading 'sqlRoleAssignments' = {
    name: guid(telemetry.name, agentPrincipalId, dataReader)
    properties: {
      principalId: agentPrincipalId
      roleDefinitionId: '${telemetry.id}/sqlRoleDefinitions/${dataReader}'
      scope: telemetry.id
    }
  }

  resource loading 'sqlRoleAssignments' = {
    name: guid(telemetry.name, pipelinePrincipalId, dataContributor)
    properties: {
      principalId: pipelinePrincipalId
      roleDefinitionId: '${telemetry.id}/sqlRoleDefinitions/${dataContributor}'
      scope: telemetry.id
    }
  }
}

resource graphDiagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'kb'
  scope: graph
  properties: {
    workspaceId: workspaceId
    logs: [{ category: 'ControlPlaneRequests', enabled: true }]
    metrics: [{ category: 'Requests', enabled: true }]
  }
}

resource telemetryDiagnostics 'Microsoft.Insights/diagnosticSettings@2021-05-01-preview' = {
  name: 'kb'
  scope: telemetry
  properties: {
    workspaceId: workspaceId
    logs: [{ category: 'ControlPlaneRequests', enabled: true }]
    metrics: [{ category: 'Requests', enabled: true }]
  }
}
