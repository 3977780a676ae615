"""The answering side: reads the index and the serving layer, imports no Dagster."""
