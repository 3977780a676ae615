"""A knowledge base as a Dagster component: another project writes its settings into a ``defs.yaml``."""

from pathlib import Path
from typing import Any

import dagster as dg
from pydantic import Field

from kb_pipeline.defs.articles import definitions_of
from kb_pipeline.defs.namespace import Namespace
from kb_pipeline.defs.resources import resource_of
from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings


class KnowledgeBaseComponent(dg.Component, dg.Resolvable, dg.Model):
    """Folders of articles become a searchable knowledge base: the layers, checks, jobs, schedules and the sensor."""

    staging: str = Field(
        description="Folder, seen from the project, or URL with one subfolder or document per article."
    )
    home: str = Field(description="Folder, seen from the project, for everything that is made.")
    name: str = Field(default="", description="Stands before the names of assets, partitions, jobs and so on.")
    analyzer: str | None = Field(default=None, description="KB_ANALYZER.")
    embedder: str | None = Field(default=None, description="KB_EMBEDDER.")
    index: str | None = Field(default=None, description="KB_INDEX.")
    schedule: str = Field(default="", description="When stale articles are made again, as cron; default: never.")
    settings: dict[str, str | int | float | bool] = Field(default={}, description="Other settings, as KB_...: value.")

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """The definitions with the names and settings of this knowledge base."""
        kb = resource_of(Namespace(self.name), self._given(context.project_root))
        return definitions_of(kb, self.schedule)

    def _given(self, root: Path) -> dict[str, Any]:
        """The settings of this knowledge base; what is not among them comes from the environment.

        Raises:
            SettingsError: a name is no setting.
        """
        others = {name.removeprefix("KB_").lower(): value for name, value in self.settings.items()}
        if unknown := sorted(others.keys() - Settings.model_fields.keys()):
            raise SettingsError(f"{', '.join(unknown)} among the settings of the component: docs/settings.md has all")
        # a place or an index of the environment would be that of all knowledge bases of the process
        own: dict[str, Any] = {"serving": None, "index_uri": None, "evaluation": None}
        if self.name:
            own["search_alias"] = f"kb-articles-{self.name.replace('_', '-')}"
        chosen = {"analyzer": self.analyzer, "embedder": self.embedder, "index": self.index}
        places = {"staging": _from(root, self.staging), "home": _from(root, self.home)}
        own["intake"] = f"{places['home']}/intake.yaml"
        return own | others | {name: value for name, value in chosen.items() if value is not None} | places


def _from(root: Path, place: str) -> str:
    return place if "://" in place else str(root / Path(place).expanduser())
