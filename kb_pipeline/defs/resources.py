"""The knowledge base as a Dagster resource: the settings, and the choices of a single run.

Whoever starts a run may choose an analyzer that is already configured. Folders, code and the environment come from the
settings only: a run that could name them could publish any file of the machine, or run any code on it.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, ClassVar

import dagster as dg
from pydantic import Field

from kb_pipeline.analyzers import ANALYZERS
from kb_pipeline.defs.namespace import PLAIN, Namespace
from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.layers import Run
from kb_pipeline.flow.workspace import Workspace, open_workspace
from kb_pipeline.settings import Settings, load_settings


class KnowledgeBase(dg.ConfigurableResource[None]):
    """Settings from ``KB_*`` environment variables; the values here override them for one run."""

    namespace: ClassVar[Namespace] = PLAIN
    given: ClassVar[Mapping[str, Any]] = {}
    """Settings that stand before those of the environment; no run can choose them, as they are no field."""

    analyzer: str = Field(default="", description="local, content-understanding or mistral-doc-ai; empty: KB_ANALYZER.")
    workers: int = Field(default=0, description="Worker processes; 0: KB_WORKERS, or one per core.")

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Refuse a run whose configuration reads environment variables: its log would show their values.

        Raises:
            SettingsError: the configuration names an environment variable.
        """
        for variable in _variables(context.run.run_config if context.run else {}):
            raise SettingsError(
                f"the run's configuration asks for the environment variable {variable!r}, which no run may read; "
                "write the value itself"
            )

    def settings(self) -> Settings:
        """The settings of this run.

        Raises:
            SettingsError: a setting is not valid, or the run names an analyzer that is not configured.
        """
        instance = load_settings(**self.given)
        if self.analyzer not in {"", instance.analyzer, *ANALYZERS}:
            raise SettingsError(
                f"a run may choose among the analyzers {', '.join(sorted({instance.analyzer, *ANALYZERS}))}; to use "
                "one of your own, set KB_ANALYZER to it"
            )
        choices = {"analyzer": self.analyzer, "workers": self.workers}
        chosen = {name: value for name, value in choices.items() if value}
        return load_settings(**{**self.given, **chosen})

    def workspace(self) -> Workspace:
        """The workspace of this run.

        Raises:
            SettingsError: as :meth:`settings`.
        """
        return open_workspace(self.settings())


def resource_of(own: Namespace, settings: Mapping[str, Any]) -> KnowledgeBase:
    """The resource of a knowledge base with names and settings of its own, which Dagster may copy as it likes."""

    class OwnKnowledgeBase(KnowledgeBase):
        """Its settings stand before those of the environment; the values here override them for one run."""

        namespace: ClassVar[Namespace] = own
        given: ClassVar[Mapping[str, Any]] = settings

    return OwnKnowledgeBase()


CHOICES = {"kb": KnowledgeBase()}
"""The launchpad shows these choices with their help texts."""


def _variables(config: Any) -> Iterator[object]:  # noqa: ANN401  (JSON)
    """The environment variables that a run's configuration refers to, before Dagster resolves it."""
    if isinstance(config, dict):
        if set(config) == {"env"}:
            yield config["env"]
        for value in config.values():
            yield from _variables(value)
    elif isinstance(config, list):
        for value in config:
            yield from _variables(value)


def now() -> str:
    """The time, as ISO 8601 in UTC; so exact that of two evaluations the later one is known."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def run_of(context: dg.OpExecutionContext) -> Run:
    """The run, as the layers that it makes record it."""
    return Run(context.run_id, now())
