"""Pure functions: no Dagster, no network, no clock, no files."""
