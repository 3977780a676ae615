"""Prepares a Content Understanding resource for this program: registers model defaults, deploys the image analyzer.

Every step can be repeated at any time. Using the analyzer and talking to people (``kb analyzers``) do not belong here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kb_pipeline.analyzers.content_understanding.analyzer import (
    ANALYZER_ID,
    DEFINITION,
    comparable_definition,
    is_version,
)
from kb_pipeline.analyzers.content_understanding.client import ContentUnderstanding
from kb_pipeline.analyzers.content_understanding.results import failure_of
from kb_pipeline.errors import ServiceError, TransientError
from kb_pipeline.settings import Settings

MODELS = ("gpt-4.1", "gpt-4.1-mini", "text-embedding-3-small", "text-embedding-3-large")
ALIASES = {
    "prebuilt-analyzer-completion": "gpt-4.1",
    "prebuilt-analyzer-completion-mini": "gpt-4.1-mini",
    "prebuilt-analyzer-embedding": "text-embedding-3-large",
}
"""Names under which prebuilt analyzers request a model
(https://learn.microsoft.com/azure/ai-services/content-understanding/concepts/models-deployments)."""


@dataclass(frozen=True)
class Defaults:
    """Registered deployments by model; ``registered`` and ``removed`` are the changes just made."""

    deployments: Mapping[str, str]
    registered: Mapping[str, str]
    removed: Mapping[str, str]


_KEPT = 1
"""Older versions of the analyzer to keep: processes of an older version of this program may still use them."""

_PAUSE = 1.0
"""Seconds between looks whether the analyzer is ready."""


@dataclass(frozen=True)
class DeploymentResult:
    """The result of a deployment; ``created`` is False if the analyzer already existed."""

    analyzer_id: str
    created: bool
    removed: tuple[str, ...]
    defaults: Defaults


@dataclass(frozen=True)
class Readiness:
    """The state of the resource, and the command that fixes each problem; without problems, all is ready.

    ``fields`` are what the analyzer extracts of an image, each with what it means.
    """

    analyzer_id: str
    analyzer: str
    fields: Mapping[str, str]
    deployments: Mapping[str, str]
    problems: Mapping[str, str]


class AnalyzerLifecycle:
    """What this program needs on the resource of the settings.

    All methods raise a ``KnowledgeBaseError`` if the service refuses, fails, or cannot be reached.
    """

    def __init__(self, settings: Settings) -> None:
        """Read endpoint and key from the settings; nothing is sent yet.

        Raises:
            SettingsError: the endpoint is missing.
            MissingExtraError: the SDK is not installed.
        """
        self._cu = ContentUnderstanding(settings)
        deployments = dict(settings.openai_deployments)
        models = {model: deployments.get(model, model) for model in MODELS}
        self._wanted = models | {alias: models[model] for alias, model in ALIASES.items()}

    def setup(self) -> Defaults:
        """Register model defaults that are missing or different, and remove all others, in one merge patch.

        Nothing is sent if all are right.
        """
        registered = self._registered()
        missing = {model: name for model, name in self._wanted.items() if registered.get(model) != name}
        stale = {model: name for model, name in registered.items() if model not in self._wanted}
        if missing or stale:
            with self._cu.translated_errors():  # RFC 7396: null removes
                self._cu.sdk.update_defaults({"modelDeployments": {**missing, **dict.fromkeys(stale)}})
            if differing := sorted(model for model, _ in self._registered().items() ^ self._wanted.items()):
                raise ServiceError(
                    f"{self._cu.service.place} did not take the model default {differing[0]}; check that "
                    "KB_OPENAI_DEPLOYMENTS names deployments of this resource"
                )
        return Defaults(self._wanted, missing, stale)

    def deploy(self) -> DeploymentResult:
        """Create the analyzer of this version if needed, then delete all older versions except the newest."""
        defaults = self.setup()
        deadline = self._cu.deadline()
        analyzer = self._settled(deadline)
        is_new = not _is_ready(analyzer)
        if is_new:
            if analyzer:  # half-made or changed: replacing it might silently keep the old definition
                self._delete(ANALYZER_ID)
            self._create(deadline)
        older = self._versions()
        removed = tuple(analyzer_id for analyzer_id in older[_KEPT:] if self._delete(analyzer_id))
        return DeploymentResult(ANALYZER_ID, is_new, removed, defaults)

    def status(self) -> Readiness:
        """Check analyzer and defaults. Only an analysis shows whether the deployments exist."""
        analyzer, registered = self._get(ANALYZER_ID), self._registered()
        problems: dict[str, str] = {}
        if not _is_ready(analyzer):
            problems[f"analyzer {ANALYZER_ID} is {_state(analyzer)}"] = "kb analyzers deploy"
        for model, name in self._wanted.items():
            if model not in registered:
                problems[f"model {model} is not registered"] = "kb analyzers setup"
            elif registered[model] != name:
                problem = f"model {model} is registered as deployment {registered[model]}, not {name}"
                problems[problem] = "kb analyzers setup"
        return Readiness(ANALYZER_ID, _state(analyzer), _fields(analyzer or DEFINITION), registered, problems)

    def deployed(self) -> tuple[str, ...]:
        """The ids of the analyzer's versions that exist."""
        existing = (ANALYZER_ID,) if self._get(ANALYZER_ID) else ()
        return (*existing, *self._versions())

    def delete(self) -> tuple[str, ...]:
        """Delete the analyzer in every version; return the ids of those that existed."""
        ours = (ANALYZER_ID, *self._versions())
        return tuple(analyzer_id for analyzer_id in ours if self._delete(analyzer_id))

    def _registered(self) -> dict[str, str]:
        with self._cu.translated_errors():
            return dict(self._cu.sdk.get_defaults().get("modelDeployments") or {})

    def _create(self, deadline: float) -> None:
        """Create the analyzer. If this fails, the next deployment replaces what was left half-made."""
        operation = self._cu.create_analyzer(ANALYZER_ID, DEFINITION, deadline)
        if operation and not operation.has_succeeded:
            raise failure_of(self._cu.service, operation)
        if not _is_ready(analyzer := self._settled(deadline)):
            raise ServiceError(
                f"{self._cu.service.place} was to create the analyzer {ANALYZER_ID}, but it is {_state(analyzer)}; "
                "run kb analyzers deploy again"
            )

    def _settled(self, deadline: float) -> dict[str, Any] | None:
        """Return the analyzer once it is no longer being created or deleted."""
        while (analyzer := self._get(ANALYZER_ID)) and analyzer.get("status") in ("creating", "deleting"):
            try:
                self._cu.pause(_PAUSE, deadline)
            except TransientError as exc:
                raise TransientError(
                    f"{self._cu.service.place} is still {analyzer['status']} the analyzer {ANALYZER_ID}; run "
                    "kb analyzers deploy again; if that does not help, run kb analyzers delete first"
                ) from exc
        return analyzer

    def _get(self, analyzer_id: str) -> dict[str, Any] | None:
        from azure.core.exceptions import ResourceNotFoundError

        with self._cu.translated_errors():
            try:
                return self._cu.sdk.get_analyzer(analyzer_id).as_dict()
            except ResourceNotFoundError:
                return None

    def _delete(self, analyzer_id: str) -> bool:
        """Delete an analyzer; return False if it did not exist or another process was faster."""
        from azure.core.exceptions import ResourceNotFoundError

        if not self._get(analyzer_id):
            return False
        with self._cu.translated_errors():
            try:
                self._cu.sdk.delete_analyzer(analyzer_id)
            except ResourceNotFoundError:
                return False
        return True

    def _versions(self) -> list[str]:
        """List the other versions of the analyzer, newest first."""
        with self._cu.translated_errors():
            analyzers = [analyzer.as_dict() for analyzer in self._cu.sdk.list_analyzers()]
        created = {str(analyzer.get("analyzerId")): str(analyzer.get("createdAt")) for analyzer in analyzers}
        others = [analyzer_id for analyzer_id in created if is_version(analyzer_id) and analyzer_id != ANALYZER_ID]
        return sorted(others, key=created.__getitem__, reverse=True)


def _fields(analyzer: Mapping[str, Any]) -> dict[str, str]:
    fields = (analyzer.get("fieldSchema") or {}).get("fields") or {}
    return {name: str(field.get("description") or "") for name, field in fields.items()}


def _is_ready(analyzer: Mapping[str, Any] | None) -> bool:
    return _state(analyzer) == "ready"


def _state(analyzer: Mapping[str, Any] | None) -> str:
    """Return the state of the analyzer for a person; "ready" only if it matches our definition."""
    if not analyzer:
        return "missing"
    status = str(analyzer.get("status"))
    return (
        "another than defined"
        if status == "ready" and comparable_definition(analyzer) != comparable_definition(DEFINITION)
        else status
    )
