// The Foundry project of hosted agents (infra/publish_agent.sh), which sends their traces to our Application Insights.
param account string
param location string
param tags object
param searchService string
param applicationInsights string

resource foundry 'Microsoft.CognitiveServices/accounts@2026-05-01' existing = {
  name: account
}

resource search 'Microsoft.Search/searchServices@2025-05-01' existing = {
  name: searchService
}

resource insights 'Microsoft.Insights/components@2020-02-02' existing = {
  name: applicationInsights
}

resource project 'Microsoft.CognitiveServices/accounts/projects@2026-05-01' = {
  parent: foundry
  name: 'kb'
  location: location
  tags: tags
  identity: { type: 'SystemAssigned' }
  properties: {
    displayName: 'Knowledge base'
    description: 'Cited, image-grounded answers.'
  }

  resource ofSearch 'connections' = {
    name: 'search'
    properties: {
      category: 'CognitiveSearch'
      authType: 'AAD'
      target: 'https://${search.name}.search.windows.net'
      metadata: { ApiType: 'Azure', ResourceId: search.id }
    }
  }

  resource ofTraces 'connections' = {
    name: 'traces'
    properties: {
      category: 'AppInsights'
      authType: 'ApiKey'
      target: insights.id
      credentials: { key: insights.properties.ConnectionString }
      metadata: { ApiType: 'Azure', ResourceId: insights.id }
    }
  }
}

output endpoint string = 'https://${foundry.name}.services.ai.azure.com/api/projects/${project.name}'
output principalId string = project.identity.principalId
