"""A network in a DuckDB file on this machine."""
