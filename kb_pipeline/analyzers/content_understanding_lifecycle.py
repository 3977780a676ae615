"""Making Content Understanding ready for this program: model defaults registered, the image analyzer deployed.

Everything may be repeated at any time. Not here: using the analyzer, and talking to people (``kb analyzers``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kb_pipeline.analyzers.content_understanding_client import ContentUnderstanding
from kb_pipeline.analyzers.content_understanding_defaults import (
    Defaults,
    defaults_problems,
    read_defaults,
    register_defaults,
    wanted_defaults,
)
from kb_pipeline.analyzers.content_understanding_definition import ANALYZER_ID, DEFINITION, essence, is_version
from kb_pipeline.analyzers.content_understanding_results import failure_of
from kb_pipeline.errors import ServiceError, TransientError
from kb_pipeline.settings import Settings

_KEPT = 1
"""Former versions of the analyzer that stay: processes of the former version of this program may still use them."""

_PAUSE = 1.0


@dataclass(frozen=True)
class Deployed:
    """The analyzer after a deployment; ``created`` unless it was there already."""

    analyzer_id: str
    created: bool
    removed: tuple[str, ...]
    defaults: Defaults


@dataclass(frozen=True)
class Readiness:
    """What is there, and by problem the command that mends it; all is ready when there is none."""

    analyzer_id: str
    analyzer: str
    deployments: Mapping[str, str]
    problems: Mapping[str, str]


class AnalyzerLifecycle:
    """What this program needs on the resource of the settings.

    All methods raise a ``KnowledgeBaseError`` when the service refuses, fails, or cannot be reached.
    """

    def __init__(self, settings: Settings) -> None:
        """Take endpoint and key from the settings; nothing is sent.

        Raises:
            SettingsError: there is no endpoint.
            MissingExtraError: the SDK is not installed.
        """
        self._cu = ContentUnderstanding(settings)
        self._wanted = wanted_defaults(settings)

    def setup(self) -> Defaults:
        """Register the model defaults, and remove those of models that nothing here uses."""
        return register_defaults(self._cu, self._wanted)

    def deploy(self) -> Deployed:
        """Have this version's analyzer ready beside those in use, which go only then, all but the newest."""
        defaults = self.setup()
        deadline = self._cu.deadline()
        found = self._settled(deadline)
        is_new = not _is_ready(found)
        if is_new:
            if found:  # half-made, or changed by somebody: a replacement might quietly stay what it was
                self._delete(ANALYZER_ID)
            self._create(deadline)
        former = self._versions()
        removed = tuple(analyzer_id for analyzer_id in former[_KEPT:] if self._delete(analyzer_id))
        return Deployed(ANALYZER_ID, is_new, removed, defaults)

    def status(self) -> Readiness:
        """Look at analyzer and defaults; whether the deployments exist, only an analysis shows."""
        found, known = self._get(ANALYZER_ID), read_defaults(self._cu)
        problems = {} if _is_ready(found) else {f"analyzer {ANALYZER_ID} is {_state(found)}": "kb analyzers deploy"}
        problems |= dict.fromkeys(defaults_problems(known, self._wanted), "kb analyzers setup")
        return Readiness(ANALYZER_ID, _state(found), known, problems)

    def delete(self) -> tuple[str, ...]:
        """Remove the analyzer in every version; returns those that were there."""
        ours = (ANALYZER_ID, *self._versions())
        return tuple(analyzer_id for analyzer_id in ours if self._delete(analyzer_id))

    def _create(self, deadline: float) -> None:
        """Make the analyzer; what is half-made when this fails is in nobody's way, and is the next deployment's."""
        operation = self._cu.create_analyzer(ANALYZER_ID, DEFINITION, deadline)
        if operation and not operation.has_succeeded:
            raise failure_of(self._cu.service, operation)
        if not _is_ready(found := self._settled(deadline)):
            raise ServiceError(
                f"{self._cu.service.place} was to make the analyzer {ANALYZER_ID}, but it is {_state(found)}; "
                "run kb analyzers deploy again"
            )

    def _settled(self, deadline: float) -> dict[str, Any] | None:
        """The analyzer once nobody is making or deleting it."""
        while (found := self._get(ANALYZER_ID)) and found.get("status") in ("creating", "deleting"):
            try:
                self._cu.pause(_PAUSE, deadline)
            except TransientError as exc:
                raise TransientError(
                    f"{self._cu.service.place} is still {found['status']} the analyzer {ANALYZER_ID}; run "
                    "kb analyzers deploy again, and if that does not help, kb analyzers delete before it"
                ) from exc
        return found

    def _get(self, analyzer_id: str) -> dict[str, Any] | None:
        from azure.core.exceptions import ResourceNotFoundError

        with self._cu.explained():
            try:
                return self._cu.sdk.get_analyzer(analyzer_id).as_dict()
            except ResourceNotFoundError:
                return None

    def _delete(self, analyzer_id: str) -> bool:
        """Remove an analyzer; False if there was none, or somebody else was faster."""
        from azure.core.exceptions import ResourceNotFoundError

        if not self._get(analyzer_id):
            return False
        with self._cu.explained():
            try:
                self._cu.sdk.delete_analyzer(analyzer_id)
            except ResourceNotFoundError:
                return False
        return True

    def _versions(self) -> list[str]:
        """The other versions of the analyzer, newest first."""
        with self._cu.explained():
            found = [analyzer.as_dict() for analyzer in self._cu.sdk.list_analyzers()]
        made = {str(one.get("analyzerId")): str(one.get("createdAt")) for one in found}
        others = [analyzer_id for analyzer_id in made if is_version(analyzer_id) and analyzer_id != ANALYZER_ID]
        return sorted(others, key=made.__getitem__, reverse=True)


def _is_ready(found: Mapping[str, Any] | None) -> bool:
    return _state(found) == "ready"


def _state(found: Mapping[str, Any] | None) -> str:
    """The analyzer's state for a person; ready only if it is what our definition says."""
    if not found:
        return "missing"
    status = str(found.get("status"))
    return "another than defined" if status == "ready" and essence(found) != essence(DEFINITION) else status
