"""A network in Azure Cosmos DB: the graph over Gremlin, telemetry over SQL."""
