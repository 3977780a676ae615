"""Pure functions that turn an article's HTML into markdown and chunks: no Dagster, network, clock or files."""
