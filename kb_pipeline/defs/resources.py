"""The knowledge base as a Dagster resource: the settings, with what a run may override."""

import dagster as dg
from pydantic import Field

from kb_pipeline.settings import Settings, load_settings


class KnowledgeBase(dg.ConfigurableResource[None]):
    """Opened from ``KB_*`` environment variables; a value given here wins for one run."""

    staging: str = Field(default="", description="Staging folder or URL; empty: KB_STAGING.")
    analyzer: str = Field(default="", description="local, content-understanding or mistral-doc-ai; empty: KB_ANALYZER.")
    workers: int = Field(default=0, description="Worker processes; 0: KB_WORKERS, or one per core.")

    def settings(self) -> Settings:
        """The settings of this run."""
        given = {"staging": self.staging, "analyzer": self.analyzer, "workers": self.workers}
        return load_settings(**{name: value for name, value in given.items() if value})


CHOICES = {"kb": KnowledgeBase()}
"""What the launchpad offers to choose for one run, with its help texts."""
