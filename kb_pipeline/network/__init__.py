"""Networks: scenario folders become checked tables, and these a store that answers queries. No Dagster, no app."""
