"""Networks: scenario folders become checked tables, and these a store that answers queries. Knows neither Dagster nor app."""
