// The network of the container apps: the shared folder, Dagster's database and the conversations are reached from here
// only. Storage, search and models keep public endpoints, which know nobody but by Entra ID.
param token string
param location string
param tags object

resource network 'Microsoft.Network/virtualNetworks@2025-01-01' = {
  name: 'kb-${token}'
  location: location
  tags: tags
  properties: {
    addressSpace: { addressPrefixes: ['10.20.0.0/16'] }
    subnets: [
      {
        name: 'apps'
        properties: {
          addressPrefix: '10.20.0.0/23'
          delegations: [
            {
              name: 'container-apps'
              properties: { serviceName: 'Microsoft.App/environments' }
            }
          ]
          serviceEndpoints: [
            { service: 'Microsoft.Storage' }
            { service: 'Microsoft.AzureCosmosDB' }
          ]
        }
      }
      {
        name: 'database'
        properties: {
          addressPrefix: '10.20.2.0/28'
          delegations: [
            {
              name: 'postgresql'
              properties: { serviceName: 'Microsoft.DBforPostgreSQL/flexibleServers' }
            }
          ]
        }
      }
    ]
  }

  resource apps 'subnets' existing = { name: 'apps' }
  resource database 'subnets' existing = { name: 'database' }
}

resource databaseZone 'Microsoft.Network/privateDnsZones@2024-06-01' = {
  name: 'kb-${token}.private.postgres.database.azure.com'
  location: 'global'
  tags: tags

  resource link 'virtualNetworkLinks' = {
    name: 'kb'
    location: 'global'
    properties: {
      registrationEnabled: false
      virtualNetwork: { id: network.id }
    }
  }
}

output appsSubnetId string = network::apps.id
output databaseSubnetId string = network::database.id
output databaseZoneId string = databaseZone.id
