"""What those who answer for the knowledge base decide about its gaps: who sees to one, and which one is none.

Each decision is a file of its own, which knows the wordings of its gap, so that the gap is known again as long as it is
asked, however it is worded then. A dismissed gap returns when it was asked again :data:`RECENT` times.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from upath import UPath

from kb_pipeline.errors import GapNotFoundError
from kb_pipeline.evaluation.gaps import RECENT, Gap, KnowledgeGaps, RecordedQuestions, find_gaps, load_gaps, save_gaps
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Record
from kb_pipeline.settings import Settings
from kb_pipeline.store.files import parse_record, read_bytes, write_bytes
from kb_pipeline.store.locks import Locks

_ID = re.compile(r"[0-9a-f]{16}")
_MOST_WORDINGS = 500
"""Wordings of a gap, the newest: those of some years."""


class GapDecision(Record):
    """What was decided about a gap, by whom and when (ISO 8601 in UTC), and by which wordings the gap is known.

    ``dismissed_at`` is empty unless it was dismissed, for this ``reason``. ``assigned_to`` is the user who sees to it.
    """

    id: str
    wordings: tuple[str, ...] = ()
    assigned_to: str = ""
    dismissed_at: str = ""
    reason: str = ""
    decided_by: str = ""
    decided_at: str = ""

    def dismisses(self, gap: Gap) -> bool:
        """Whether the gap is dismissed, and was not asked again three times since."""
        returned = len(gap.recent) >= RECENT and gap.recent[-1] > self.dismissed_at
        return bool(self.dismissed_at) and not returned


def look_for_gaps(
    workspace: Workspace, asked: RecordedQuestions, at: str, *, records_content: bool, keeps_whole: bool = False
) -> KnowledgeGaps:
    """Find the gaps, know those again about which something was decided, and keep them in place of those of before.

    Raises:
        KnowledgeBaseError: the index, the embedding model or the home cannot be used.
    """
    settings = workspace.settings
    known = {wording: each.id for each in load_decisions(settings).values() for wording in each.wordings}
    gaps = find_gaps(workspace, asked, at, records_content=records_content, keeps_whole=keeps_whole, known=known)
    with _held(settings):
        decisions = load_decisions(settings)
        for gap in gaps.gaps:
            if (decision := decisions.get(gap.id)) and not set(gap.wordings) <= set(decision.wordings):
                _save(settings, decision.model_copy(update={"wordings": _joined(gap, decision)}))
        save_gaps(settings, gaps)
    return gaps


def load_decisions(settings: Settings) -> Mapping[str, GapDecision]:
    """What was decided, by the ids of the gaps.

    Raises:
        DamagedLayerError: a file is not as it was written.
        StorageError: one is unreadable.
    """
    folder = _folder(settings)
    paths = sorted(folder.iterdir()) if folder.exists() else []
    found = (parse_record(path, read_bytes(path), GapDecision, "gaps") for path in paths if _ID.fullmatch(path.stem))
    return {each.id: each for each in found}


def find_gap(settings: Settings, gap_id: str) -> Gap:
    """The gap with this id, as it was last looked for.

    Raises:
        GapNotFoundError: there is none.
    """
    gaps = load_gaps(settings)
    found = next((gap for gap in gaps.gaps if gap.id == gap_id), None) if gaps and _ID.fullmatch(gap_id) else None
    if found is None:
        raise GapNotFoundError(
            f"there is no gap {gap_id[:80]!r}; it may be answered by now, or have been asked long ago"
        )
    return found


def decide(
    settings: Settings, gap_id: str, by: str, *, assigned_to: str = "", is_dismissed: bool = False, reason: str = ""
) -> GapDecision:
    """Decide about a gap, in place of what was decided before. It stays dismissed from when it first was.

    Raises:
        GapNotFoundError: there is no such gap.
        StorageError: the home cannot be written to.
    """
    gap = find_gap(settings, gap_id)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    with _held(settings):
        before = load_decisions(settings).get(gap_id) or GapDecision(id=gap_id)
        stays = before.dismisses(gap) and before.reason == reason
        decision = GapDecision(
            id=gap_id,
            wordings=_joined(gap, before),
            assigned_to=assigned_to,
            dismissed_at=(before.dismissed_at if stays else now) if is_dismissed else "",
            reason=reason if is_dismissed else "",
            decided_by=by,
            decided_at=now,
        )
        _save(settings, decision)
    return decision


def _joined(gap: Gap, decision: GapDecision) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*gap.wordings, *decision.wordings)))[:_MOST_WORDINGS]


def _save(settings: Settings, decision: GapDecision) -> None:
    write_bytes(_folder(settings) / f"{decision.id}.json", decision.model_dump_json(indent=1).encode())


@contextmanager
def _held(settings: Settings) -> Iterator[None]:
    """Let no other process decide or look meanwhile, which would lose what one of both writes."""
    with Locks(settings.home_path / "locks" / "gaps").hold(["gaps"]):
        yield


def _folder(settings: Settings) -> UPath:
    return UPath(settings.home) / "evaluation" / "gaps"
