"""Files, states and staged articles, in local folders or on Azure Blob Storage."""
