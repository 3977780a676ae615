"""How the knowledge base is used, as it is sent: the report that the terminal and Dagster show as well."""

from kb_pipeline.evaluation.usage import WEEKS, UsageOfTime, UsageReport

__all__ = ["WEEKS", "UsageOfTime", "UsageReport"]
