// Everything that the pipeline and the app need on Azure, in one resource group; not the container apps themselves,
// which are pipeline.bicep, agent.bicep and app.bicep. Outputs named KB_* are the settings of the same name.
targetScope = 'subscription'

@description('Name of the azd environment; part of the names of the resource group and of what is in it.')
@minLength(1)
@maxLength(32)
param environmentName string

@description('Region of everything except the models.')
param location string

@description('Region of the models and of Content Understanding; see docs/azure.md for which regions have them. Empty: the same.')
param modelsLocation string = ''

@description('Object id of who deploys: may fill the staging container and manage analyzers. Empty: nobody.')
param principalId string = ''

@allowed(['User', 'Group', 'ServicePrincipal'])
param principalType string = 'User'

@allowed(['local', 'content-understanding', 'mistral-doc-ai'])
param analyzer string = 'content-understanding'

@description('The embedding model, as KB_EMBEDDER has it.')
param embedder string = 'openai/text-embedding-3-small'

@description('The longest chunk, in tokens of the embedding model; longer sections are split. At most its window, 8191.')
param chunkTokens string = '1500'

@description('The model that words answers; one of the deployments.')
param chatModel string = 'gpt-4.1'

@allowed(['basic', 'standard', 'standard2', 'standard3'])
param searchSku string = 'basic'

@allowed(['small', 'large'])
@description('small: as cheap as it goes; large: for a company. See the costs in docs/azure.md.')
param size string = 'small'

@description('Whether hybrid searches are reranked by the semantic ranker, which costs by the query beyond a free amount.')
@allowed(['disabled', 'free', 'standard'])
param semanticRanker string = 'free'

@description('Model deployments. Capacity is in thousands of tokens a minute (OCR: as Mistral counts).')
param deployments array = [
  { name: 'gpt-4.1', model: 'gpt-4.1', format: 'OpenAI', version: '2025-04-14', sku: 'GlobalStandard', capacity: 50 }
  { name: 'gpt-4.1-mini', model: 'gpt-4.1-mini', format: 'OpenAI', version: '2025-04-14', sku: 'GlobalStandard', capacity: 50 }
  { name: 'text-embedding-3-small', model: 'text-embedding-3-small', format: 'OpenAI', version: '1', sku: 'GlobalStandard', capacity: 120 }
  { name: 'text-embedding-3-large', model: 'text-embedding-3-large', format: 'OpenAI', version: '1', sku: 'GlobalStandard', capacity: 50 }
]

@description('Also deploy Mistral Document AI, for the analyzer mistral-doc-ai; it is sold through the marketplace.')
param deployMistral bool = analyzer == 'mistral-doc-ai'

@allowed(['true', 'false'])
@description('Whether networks are kept in Azure Cosmos DB, a graph and its telemetry, instead of files of the pipeline.')
param networkGraph string = 'false'

@description('With networkGraph: the containers of telemetry that scenarios declare, those of the sample by default.')
param telemetryContainers array = [
  { name: 'alerts', partitionKey: 'source_id', time: 'raised_at' }
  { name: 'link_metrics', partitionKey: 'link_id', time: 'measured_at' }
]

var mistral = { name: 'mistral-document-ai-2512', model: 'mistral-document-ai-2512', format: 'Mistral AI', version: '1', sku: 'GlobalStandard', capacity: 1 }
var roles = loadJsonContent('roles.json')
var token = uniqueString(subscription().id, environmentName, location)
var tags = { 'azd-env-name': environmentName }

resource group 'Microsoft.Resources/resourceGroups@2025-04-01' = {
  name: 'rg-${environmentName}'
  location: location
  tags: tags
}

module identities 'modules/identities.bicep' = {
  scope: group
  params: {
    token: token
    location: location
    tags: tags
  }
}

module monitoring 'modules/monitoring.bicep' = {
  scope: group
  params: {
    token: token
    location: location
    tags: tags
  }
}

module network 'modules/network.bicep' = {
  scope: group
  params: {
    token: token
    location: location
    tags: tags
  }
}

module staging 'modules/blobs.bicep' = {
  scope: group
  params: {
    name: 'kbstaging${token}'
    location: location
    tags: tags
    containers: ['staging']
    workspaceId: monitoring.outputs.workspaceId
    access: concat(
      [
        { principalId: identities.outputs.pipeline.principalId, principalType: 'ServicePrincipal', roleId: roles.StorageBlobDataReader }
      ],
      empty(principalId) ? [] : [{ principalId: principalId, principalType: principalType, roleId: roles.StorageBlobDataContributor }]
    )
  }
}

module serving 'modules/blobs.bicep' = {
  scope: group
  params: {
    name: 'kbserving${token}'
    location: location
    tags: tags
    containers: ['serving', 'logs']
    workspaceId: monitoring.outputs.workspaceId
    access: concat(
      [
        { principalId: identities.outputs.pipeline.principalId, principalType: 'ServicePrincipal', roleId: roles.StorageBlobDataContributor }
        { principalId: identities.outputs.agent.principalId, principalType: 'ServicePrincipal', roleId: roles.StorageBlobDataReader }
      ],
      empty(principalId) ? [] : [{ principalId: principalId, principalType: principalType, roleId: roles.StorageBlobDataReader }]
    )
  }
}

module home 'modules/home.bicep' = {
  scope: group
  params: {
    name: 'kbhome${token}'
    location: location
    tags: tags
    subnetId: network.outputs.appsSubnetId
  }
}

module search 'modules/search.bicep' = {
  scope: group
  params: {
    name: 'kb-search-${token}'
    location: location
    tags: tags
    sku: searchSku
    semanticRanker: semanticRanker
    workspaceId: monitoring.outputs.workspaceId
    access: concat(
      [
        { principalId: identities.outputs.pipeline.principalId, principalType: 'ServicePrincipal', roleId: roles.SearchServiceContributor }
        { principalId: identities.outputs.pipeline.principalId, principalType: 'ServicePrincipal', roleId: roles.SearchIndexDataContributor }
        // Reader: which index the alias names, and what is in its definition
        { principalId: identities.outputs.agent.principalId, principalType: 'ServicePrincipal', roleId: roles.Reader }
        { principalId: identities.outputs.agent.principalId, principalType: 'ServicePrincipal', roleId: roles.SearchIndexDataReader }
      ],
      empty(principalId) ? [] : [{ principalId: principalId, principalType: principalType, roleId: roles.SearchIndexDataReader }]
    )
  }
}

module models 'modules/models.bicep' = {
  scope: group
  params: {
    name: 'kb-models-${token}'
    location: empty(modelsLocation) ? location : modelsLocation
    tags: tags
    deployments: deployMistral ? concat(deployments, [mistral]) : deployments
    workspaceId: monitoring.outputs.workspaceId
    access: concat(
      [
        { principalId: identities.outputs.pipeline.principalId, principalType: 'ServicePrincipal', roleId: roles.CognitiveServicesUser }
        { principalId: identities.outputs.pipeline.principalId, principalType: 'ServicePrincipal', roleId: roles.CognitiveServicesOpenAIUser }
        { principalId: identities.outputs.agent.principalId, principalType: 'ServicePrincipal', roleId: roles.CognitiveServicesOpenAIUser }
        { principalId: search.outputs.principalId, principalType: 'ServicePrincipal', roleId: roles.CognitiveServicesOpenAIUser }
      ],
      empty(principalId) ? [] : [{ principalId: principalId, principalType: principalType, roleId: roles.CognitiveServicesUser }]
    )
  }
}

module project 'modules/project.bicep' = {
  scope: group
  params: {
    account: models.outputs.name
    location: empty(modelsLocation) ? location : modelsLocation
    tags: tags
    searchService: search.outputs.name
    applicationInsights: monitoring.outputs.applicationInsights
  }
}

module history 'modules/postgres.bicep' = {
  scope: group
  params: {
    name: 'kb-history-${token}'
    location: location
    tags: tags
    subnetId: network.outputs.databaseSubnetId
    dnsZoneId: network.outputs.databaseZoneId
    administrator: identities.outputs.pipeline
    size: size
    workspaceId: monitoring.outputs.workspaceId
  }
}

module conversations 'modules/cosmos.bicep' = {
  scope: group
  params: {
    name: 'kb-conversations-${token}'
    location: location
    tags: tags
    subnetId: network.outputs.appsSubnetId
    agentPrincipalId: identities.outputs.agent.principalId
    workspaceId: monitoring.outputs.workspaceId
  }
}

module diagnosis 'modules/diagnosis.bicep' = if (networkGraph == 'true') {
  scope: group
  params: {
    token: token
    location: location
    tags: tags
    subnetId: network.outputs.appsSubnetId
    pipelinePrincipalId: identities.outputs.pipeline.principalId
    agentPrincipalId: identities.outputs.agent.principalId
    workspaceId: monitoring.outputs.workspaceId
    containers: telemetryContainers
  }
}

module registry 'modules/registry.bicep' = {
  scope: group
  params: {
    name: 'kbimages${token}'
    location: location
    tags: tags
    workspaceId: monitoring.outputs.workspaceId
    access: [
      { principalId: identities.outputs.pipeline.principalId, principalType: 'ServicePrincipal', roleId: roles.AcrPull }
      { principalId: identities.outputs.agent.principalId, principalType: 'ServicePrincipal', roleId: roles.AcrPull }
      { principalId: identities.outputs.app.principalId, principalType: 'ServicePrincipal', roleId: roles.AcrPull }
      { principalId: project.outputs.principalId, principalType: 'ServicePrincipal', roleId: roles.AcrPull }
    ]
  }
}

module environment 'modules/environment.bicep' = {
  scope: group
  params: {
    name: 'kb-${token}'
    location: location
    tags: tags
    subnetId: network.outputs.appsSubnetId
    shareServer: home.outputs.server
    sharePath: home.outputs.path
    workspaceId: monitoring.outputs.workspaceId
  }
}

output AZURE_LOCATION string = location
output AZURE_TENANT_ID string = tenant().tenantId
output AZURE_RESOURCE_GROUP string = group.name
output AZURE_CONTAINER_REGISTRY_ENDPOINT string = registry.outputs.server

output PIPELINE_URL string = 'https://kb-pipeline.${environment.outputs.domain}'
output AGENT_URL string = 'https://kb-agent.${environment.outputs.domain}'
output APP_URL string = 'https://kb-app.${environment.outputs.domain}'
output CONTAINER_ENVIRONMENT string = environment.outputs.name
output PIPELINE_IDENTITY string = identities.outputs.pipeline.name
output AGENT_IDENTITY string = identities.outputs.agent.name
output APP_IDENTITY string = identities.outputs.app.name
output APP_PRINCIPAL_ID string = identities.outputs.app.principalId
output SIGN_IN_IDENTITY string = identities.outputs.signIn.name
output SIGN_IN_PRINCIPAL_ID string = identities.outputs.signIn.principalId
output FOUNDRY_PROJECT_ENDPOINT string = project.outputs.endpoint
output SERVING_ID string = serving.outputs.id
output SEARCH_ID string = search.outputs.id
output MODELS_ID string = models.outputs.id
output HISTORY_SERVER string = history.outputs.server
output LOGS_ACCOUNT string = serving.outputs.name
output APPLICATION_INSIGHTS string = monitoring.outputs.applicationInsights
output STAGING_ACCOUNT string = staging.outputs.name

output KB_STAGING string = 'abfs://staging@${staging.outputs.host}/articles'
output KB_SERVING string = 'abfs://serving@${serving.outputs.host}/articles'
output KB_ANALYZER string = analyzer
output KB_EMBEDDER string = embedder
output KB_CHUNK_MAX_TOKENS string = chunkTokens
output KB_INDEX string = 'azure-ai-search'
output KB_SEARCH_ENDPOINT string = search.outputs.endpoint
output KB_SEARCH_IMAGE_URL string = 'https://kb-agent.${environment.outputs.domain}/api/images'
output KB_SEARCH_SEMANTIC string = semanticRanker == 'disabled' ? 'false' : 'true'
output KB_OPENAI_AZURE_ENDPOINT string = models.outputs.openAIEndpoint
output KB_CONTENT_UNDERSTANDING_ENDPOINT string = models.outputs.foundryEndpoint
output KB_MISTRAL_ENDPOINT string = models.outputs.foundryEndpoint
output KB_CHAT_AZURE_ENDPOINT string = models.outputs.openAIEndpoint
output KB_CHAT_MODEL string = chatModel
output KB_NETWORK string = networkGraph == 'true' ? 'cosmosdb' : ''
output KB_GREMLIN_ENDPOINT string = networkGraph == 'true' ? 'wss://kb-graph-${token}.gremlin.cosmos.azure.com:443/' : ''
output KB_TELEMETRY_ENDPOINT string = networkGraph == 'true' ? 'https://kb-telemetry-${token}.documents.azure.com' : ''
output KB_CONVERSATIONS string = 'cosmos'
output KB_COSMOS_ENDPOINT string = conversations.outputs.endpoint
