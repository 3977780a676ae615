"""The guard of the web."""
