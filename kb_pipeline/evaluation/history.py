"""The history of evaluations: a file with scores and one with outcomes for each run.

Those of the knowledge base are in ``<home>/evaluation/runs``, those of a scenario's diagnosis in
``<home>/evaluation/scenarios/<scenario>``, so that they go when the scenario goes.
"""

import gzip
import logging
import zlib
from collections.abc import Iterable
from typing import get_args

from pydantic import TypeAdapter, ValidationError
from upath import UPath

from kb_pipeline.errors import DamagedLayerError
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, Kind, QuestionOutcome, is_run_id
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import seal, unseal
from kb_pipeline.store.files import read_all, read_bytes, remove_file, remove_folder, write_bytes

KEPT = 500
"""Runs to keep in each history: a nightly run for a year, and some more by hand."""

_OUTCOMES = TypeAdapter(tuple[QuestionOutcome, ...])
_SUFFIX = ".json"
_DETAILS = ".outcomes.json.gz"

_log = logging.getLogger(__name__)


def load_runs(settings: Settings, kind: Kind | None = None, scenario: str = "") -> list[EvaluationRun]:
    """Load all runs of the knowledge base or a scenario, or those of one kind, oldest first.

    Damaged files are skipped with a warning in the log.
    """
    folder = _folder(settings, scenario)
    loaded = (_parse_run(name, data) for name, data in read_all(folder, _SUFFIX) if is_run_id(name))
    runs = [run for run in loaded if run and kind in (None, run.kind)]
    return sorted(runs, key=lambda run: (run.made_at, run.id))


def load_run(settings: Settings, run_id: str, scenario: str = "") -> EvaluationRun | None:
    """Load one run; ``None`` if there is none with this id."""
    path = _folder(settings, scenario) / f"{run_id}{_SUFFIX}"
    return _parse_run(run_id, read_bytes(path)) if is_run_id(run_id) and path.exists() else None


def load_outcomes(settings: Settings, run: EvaluationRun) -> tuple[QuestionOutcome, ...]:
    """Load the outcomes of a run.

    Raises:
        DamagedLayerError: the file is not as it was written.
        StorageError: it is missing or unreadable.
    """
    path = _folder(settings, run.scenario) / f"{run.id}{_DETAILS}"
    try:
        return _OUTCOMES.validate_json(gzip.decompress(read_bytes(path)))
    except (ValidationError, OSError, EOFError, zlib.error) as exc:
        raise DamagedLayerError("diagnosis_quality" if run.scenario else "retrieval_quality", path) from exc


def save(settings: Settings, evaluation: Evaluation) -> None:
    """Write a run with its outcomes, and remove the oldest runs beyond :data:`KEPT`.

    The outcomes are written first, so that a run with scores always has outcomes.
    """
    run = evaluation.run
    folder = _folder(settings, run.scenario)
    outcomes = _OUTCOMES.dump_json(evaluation.outcomes, exclude_defaults=True)
    write_bytes(folder / f"{run.id}{_DETAILS}", gzip.compress(outcomes))
    save_run(settings, run)
    runs = load_runs(settings, scenario=run.scenario)
    needed = {run.id} | {newest.id for kind in get_args(Kind) if (newest := last_accepted(runs, kind))}
    for old in [one for one in runs[:-KEPT] if one.id not in needed]:
        for suffix in (_SUFFIX, _DETAILS):
            remove_file(folder / f"{old.id}{suffix}")


def save_run(settings: Settings, run: EvaluationRun) -> None:
    """Write the scores and the judgement of a run."""
    path = _folder(settings, run.scenario) / f"{run.id}{_SUFFIX}"
    write_bytes(path, seal(run.id, run.model_dump_json(indent=1).encode()))


def forget_runs(settings: Settings, scenario: str) -> None:
    """Remove the history of a scenario's diagnosis."""
    remove_folder(_folder(settings, scenario))


def last_accepted(runs: Iterable[EvaluationRun], kind: Kind) -> EvaluationRun | None:
    """The run to compare with: the accepted run of this kind whose state of the knowledge base was seen last."""
    accepted = [run for run in runs if run.kind == kind and run.accepted]
    return max(accepted, key=lambda run: (run.seen_at, run.made_at, run.id), default=None)


def _folder(settings: Settings, scenario: str = "") -> UPath:
    folder = UPath(settings.home) / "evaluation"
    return folder / "scenarios" / scenario if scenario else folder / "runs"


def _parse_run(name: str, data: bytes) -> EvaluationRun | None:
    try:
        run = EvaluationRun.model_validate_json(unseal(name, data))
        if run.id != name:
            raise ValueError(f"it is the run {run.id}")
    except ValueError as exc:  # pydantic's ValidationError is one
        _log.warning(
            "the evaluation %s is left out, its file is damaged or of another version; "
            "remove it, or put a backup in its place: %s",
            name,
            exc,
        )
        return None
    return run
