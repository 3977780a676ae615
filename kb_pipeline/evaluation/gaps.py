"""Knowledge gaps: questions that the knowledge base did not answer, like ones together, with the nearest articles.

Who asked is not known here. Reading the questions is the task of the application, see :mod:`kb_pipeline.application`.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

import numpy as np
from pydantic import Field
from upath import UPath

from kb_pipeline.errors import IndexMissingError
from kb_pipeline.evaluation.use import AnswerUse
from kb_pipeline.flow.workspace import Reader, Workspace
from kb_pipeline.models.base import Embedder
from kb_pipeline.records import Record, Scalar
from kb_pipeline.settings import Settings
from kb_pipeline.store.files import parse_record, read_bytes, write_bytes

DAYS = 30
"""How far back questions are read."""
MOST_GAPS = 200
"""Gaps that are kept, those asked most often."""
ALIKE = 0.7
"""Cosine from which two questions ask the same. With the default embedder, twelve questions and their everyday
rewordings are all above it, and of the 1,128 pairs of different questions about the samples none is."""

_LONGEST = 300
"""Characters of a question that are kept, with those that it continues."""
_LEAST_ROOM = 40
"""Characters left for what was asked before; with less it says nothing."""

Reason = Literal["refused", "closest", "disliked"]
"""Nothing answered; only what is close was shown; a reader gave the answer a thumbs-down."""


class Unanswered(Record):
    """A question that was not answered, or not well; ``asked_at`` is ISO 8601 in UTC.

    ``continues`` are the asker's earlier questions that it makes no sense without, the first one first.
    ``is_unnamed``: it was asked where nobody signs in, so whoever asks there can read it among the conversations.
    """

    question: str
    continues: tuple[str, ...] = ()
    asked_at: str
    reason: Reason
    is_unnamed: bool = False

    @property
    def in_full(self) -> str:
        """The question after those that it continues."""
        return " ".join((*self.continues, self.question))

    @property
    def query(self) -> str:
        """What a search for it looks for: its own words first, those that it continues on lines of their own."""
        return "\n".join((self.question, *reversed(self.continues)))


class RecordedQuestions(Record):
    """What was asked and not answered, in how many answers each article is cited, by its id, and how all were used."""

    unanswered: tuple[Unanswered, ...] = ()
    cited: dict[str, int] = Field(default_factory=dict)
    use: AnswerUse = AnswerUse()


class Gap(Record):
    """Questions that ask the same: how they were last worded, how often they were asked and why they count as gaps.

    ``question`` is empty where words of those who asked must not be recorded. ``article_id`` is the nearest article,
    "" if there is none.
    """

    question: str = ""
    count: int
    reasons: dict[Reason, int]
    last_asked: str
    article_id: str = ""
    title: str = ""


class KnowledgeGaps(Record):
    """The gaps of the last :data:`DAYS` days, most asked first. ``questions`` counts all that were not answered.

    ``cited`` says in how many answers of that time each article is cited, by its id, ``use`` how they were used.
    """

    made_at: str
    questions: int = 0
    records_content: bool = False
    gaps: tuple[Gap, ...] = ()
    cited: dict[str, int] = Field(default_factory=dict)
    use: AnswerUse = AnswerUse()

    def rows(self) -> list[dict[str, Scalar]]:
        """The gaps as the rows of a table."""
        return [
            {
                **({"question": gap.question} if any(each.question for each in self.gaps) else {}),
                "asked": gap.count,
                **{reason: gap.reasons.get(reason, 0) for reason in _REASONS},
                "last asked": gap.last_asked,
                "nearest article": gap.article_id,
            }
            for gap in self.gaps
        ]


_REASONS: tuple[Reason, ...] = ("refused", "closest", "disliked")


def find_gaps(workspace: Workspace, asked: RecordedQuestions, at: str, *, records_content: bool) -> KnowledgeGaps:
    """Put like questions together, and find the article that is nearest to each.

    Without ``records_content`` no word of a question is in the result that somebody asked who had signed in.

    Raises:
        KnowledgeBaseError: the index or the embedding model cannot be used.
    """
    try:
        reader: Reader | None = workspace.reader()
    except IndexMissingError:
        reader = None
    groups = sorted(
        grouped(asked.unanswered, workspace.embedder), key=lambda group: (-len(group), _last(group).in_full)
    )
    gaps: list[Gap] = []
    for group in groups[:MOST_GAPS]:
        last = _last(group)
        told = [each for each in group if records_content or each.is_unnamed]
        nearest = reader.search(last.query, top=1) if reader else []
        gaps.append(
            Gap(
                question=_shortened(_last(told)) if told else "",
                count=len(group),
                reasons=dict(Counter(each.reason for each in group)),
                last_asked=last.asked_at,
                article_id=nearest[0].chunk.article_id if nearest else "",
                title=nearest[0].chunk.title if nearest else "",
            )
        )
    return KnowledgeGaps(
        made_at=at,
        questions=len(asked.unanswered),
        records_content=records_content,
        gaps=tuple(gaps),
        cited=asked.cited,
        use=asked.use,
    )


def grouped(asked: Sequence[Unanswered], embedder: Embedder) -> list[list[Unanswered]]:
    """Put together the questions that ask the same, by their embeddings.

    Each question joins the group whose first question is most like it, if one is at all; the newest come first.
    """
    by_text: dict[str, list[Unanswered]] = {}
    for each in sorted(asked, key=lambda each: each.asked_at, reverse=True):
        by_text.setdefault(" ".join(each.in_full.casefold().split()), []).append(each)
    texts = [group[0].in_full for group in by_text.values()]
    if not texts:
        return []
    vectors = np.stack([embedder.embed_question(text).vector for text in texts])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    groups: list[list[Unanswered]] = []
    firsts: list[int] = []
    for position, same in enumerate(by_text.values()):
        likeness = vectors[firsts] @ vectors[position] if firsts else np.zeros(1)
        best = int(likeness.argmax())
        if likeness[best] >= ALIKE:
            groups[best] += same
        else:
            groups.append(list(same))
            firsts.append(position)
    return groups


def save_gaps(settings: Settings, gaps: KnowledgeGaps) -> None:
    """Write the gaps in place of those of the last time."""
    write_bytes(_path(settings), gaps.model_dump_json(indent=1).encode())


def load_gaps(settings: Settings) -> KnowledgeGaps | None:
    """Load the gaps; ``None`` if they were never looked for.

    Raises:
        DamagedLayerError: the file is not as it was written.
        StorageError: it is unreadable.
    """
    path = _path(settings)
    return parse_record(path, read_bytes(path), KnowledgeGaps, "unanswered_questions") if path.exists() else None


def _shortened(asked: Unanswered) -> str:
    """Return a question on one line, cut if it is long; what it continues is cut first."""
    question = " ".join(asked.question.split())[:_LONGEST]
    before = " ".join(" ".join(asked.continues).split())
    room = _LONGEST - len(question) - 1
    if len(before) > room:
        before = f"{before[: room - 2].rsplit(' ', 1)[0]} …" if room > _LEAST_ROOM else ""
    return f"{before} {question}".strip()


def _path(settings: Settings) -> UPath:
    return UPath(settings.home) / "evaluation" / "gaps.json"


def _last(group: Sequence[Unanswered]) -> Unanswered:
    return max(group, key=lambda each: (each.asked_at, each.in_full))
