"""Azure AI Search as the index."""
