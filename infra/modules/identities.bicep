// Who the container apps are. Each has only the roles that its work needs: see the modules that are given them.
param token string
param location string
param tags object

resource pipelineIdentity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'kb-pipeline-${token}'
  location: location
  tags: tags
}

resource agentIdentity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'kb-agent-${token}'
  location: location
  tags: tags
}

resource appIdentity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'kb-app-${token}'
  location: location
  tags: tags
}

// stands for the app registration's secret when people sign in, and may do nothing else
resource signInIdentity 'Microsoft.ManagedIdentity/userAssignedIdentities@2024-11-30' = {
  name: 'kb-sign-in-${token}'
  location: location
  tags: tags
}

output pipeline object = {
  name: pipelineIdentity.name
  principalId: pipelineIdentity.properties.principalId
}
output agent object = {
  name: agentIdentity.name
  principalId: agentIdentity.properties.principalId
}
output app object = {
  name: appIdentity.name
  principalId: appIdentity.properties.principalId
}
output signIn object = {
  name: signInIdentity.name
  principalId: signInIdentity.properties.principalId
}
