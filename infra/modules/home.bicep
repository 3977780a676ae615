// KB_HOME: a share by NFS 4.1, because states, versions and locks need a file system with working locks, and because
// NFS has no account key. It has no sign-in either: only the container apps' subnet reaches it.
param name string
param location string
param tags object
param subnetId string

resource account 'Microsoft.Storage/storageAccounts@2025-08-01' = {
  name: name
  location: location
  tags: tags
  kind: 'FileStorage'
  sku: { name: 'PremiumV2_ZRS' }
  properties: {
    allowSharedKeyAccess: false
    allowBlobPublicAccess: false
    minimumTlsVersion: 'TLS1_2'
    // NFS is no HTTPS; there is nothing else in this account
    supportsHttpsTrafficOnly: false
    networkAcls: {
      defaultAction: 'Deny'
      bypass: 'None'
      virtualNetworkRules: [{ id: subnetId, action: 'Allow' }]
    }
  }

  resource files 'fileServices' = {
    name: 'default'

    resource share 'shares' = {
      name: 'kb'
      properties: {
        enabledProtocols: 'NFS'
        rootSquash: 'NoRootSquash'
        shareQuota: 32 // GiB, the least there is
      }
    }
  }
}

output server string = '${account.name}.file.${environment().suffixes.storage}'
output path string = '/${account.name}/${account::files::share.name}'
