"""Knowledge gaps: questions that the knowledge base did not answer, like ones together, with the nearest articles.

Who asked is not known here. Reading the questions is the task of the application, see :mod:`kb_pipeline.application`;
what is decided about gaps is in :mod:`kb_pipeline.evaluation.gap_decisions`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from pydantic import Field
from upath import UPath

from kb_pipeline.errors import IndexMissingError
from kb_pipeline.evaluation.use import AnswerUse
from kb_pipeline.flow.workspace import Reader, Workspace
from kb_pipeline.models.base import Embedder
from kb_pipeline.pasted import sentences_of
from kb_pipeline.personal import without_personal
from kb_pipeline.records import Record, Scalar
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint
from kb_pipeline.store.files import parse_record, read_bytes, write_bytes

DAYS = 30
"""How far back questions are read."""
MOST_GAPS = 200
"""Gaps that are kept, those asked most often."""
ALIKE = 0.7
"""Cosine from which two questions ask the same. With the default embedder, twelve questions and their everyday
rewordings are all above it, and of 116,403 pairs of different questions of the benchmarks 16, most of them German,
which that model does not know. Of 483 questions that were reworded to share no word 7 % reach it; at .65 13 % do,
and 31 pairs."""

RECENT = 3
"""How many of the newest times are kept at which a gap was asked: a dismissed one returns when it is asked as often."""

_LONGEST = 300
"""Characters of a question that are kept, with those that it continues."""
_LONGEST_WHOLE = 20_000
"""Characters of a message that is kept as it was written: pages of it."""
_LONGEST_EARLIER = 120
"""Characters of a question that an earlier release kept; a longer one is the beginning of a mail."""
_MOST_WORDINGS = 100
"""Wordings by which a gap is known again, the newest."""
_LEAST_ROOM = 40
"""Characters left for what was asked before; with less it says nothing."""

Reason = Literal["refused", "closest", "disliked"]
"""Nothing answered; only what is close was shown; a reader gave the answer a thumbs-down."""


class Unanswered(Record):
    """A question that was not answered, or not well; ``asked_at`` is ISO 8601 in UTC.

    ``question`` is masked, and of a pasted mail no more than its question; ``whole`` is what was written.
    ``continues`` are the asker's earlier questions that it makes no sense without, the first one first.
    ``is_unnamed``: it was asked where nobody signs in, so whoever asks there can read it among the conversations.
    """

    question: str
    whole: str = ""
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

    @property
    def wording(self) -> str:
        """A hash of its words: questions in the same words have the same, and it tells none of them."""
        return _wording(self.in_full)


class RecordedQuestions(Record):
    """What was asked and not answered, in how many answers each article is cited, by its id, and how all were used."""

    unanswered: tuple[Unanswered, ...] = ()
    cited: dict[str, int] = Field(default_factory=dict)
    use: AnswerUse = AnswerUse()


class Gap(Record):
    """Questions that ask the same: how they were last worded, how often they were asked and why they count as gaps.

    ``question`` is empty where words of those who asked must not be recorded, ``whole`` where what was written is not
    kept. ``recent`` are the newest times at which it was asked, the last one first. By ``wordings`` it is known again
    the next time. ``article_id`` is the nearest article, "" if there is none.
    """

    id: str = ""
    question: str = ""
    whole: str = ""
    count: int
    reasons: dict[Reason, int]
    first_asked: str = ""
    last_asked: str
    recent: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    article_id: str = ""
    title: str = ""


class KnowledgeGaps(Record):
    """The gaps of the last :data:`DAYS` days, most asked first. ``questions`` counts all that were not answered.

    ``cited`` says in how many answers of that time each article is cited, by its id, ``use`` how they were used.
    ``is_masked`` is not in the file of an earlier release, which kept words as they were written.
    """

    made_at: str
    is_masked: bool = True
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


def find_gaps(
    workspace: Workspace,
    asked: RecordedQuestions,
    at: str,
    *,
    records_content: bool,
    keeps_whole: bool = False,
    known: Mapping[str, str] | None = None,
) -> KnowledgeGaps:
    """Put like questions together, and find the article that is nearest to each.

    Without ``records_content`` no word of a question is in the result that somebody asked who had signed in, and
    without ``keeps_whole`` only what is masked. ``known`` are the ids of earlier gaps, by their wordings.

    Raises:
        KnowledgeBaseError: the index or the embedding model cannot be used.
    """
    try:
        reader: Reader | None = workspace.reader()
    except IndexMissingError:
        reader = None
    groups = sorted(
        grouped(asked.unanswered, workspace.embedder),
        key=lambda group: (-len(group), max((each.asked_at, each.in_full) for each in group)[1]),
    )[:MOST_GAPS]
    gaps: list[Gap] = []
    for gap_id, group in zip(_ids(groups, known or {}), groups, strict=True):
        newest = sorted(group, key=lambda each: (each.asked_at, each.in_full), reverse=True)
        told = [each for each in newest if records_content or each.is_unnamed]
        nearest = reader.search(newest[0].query, top=1) if reader else []
        gaps.append(
            Gap(
                id=gap_id,
                question=_shortened(told[0]) if told else "",
                whole=told[0].whole[:_LONGEST_WHOLE] if told and keeps_whole else "",
                count=len(group),
                reasons=dict(Counter(each.reason for each in group)),
                first_asked=newest[-1].asked_at,
                last_asked=newest[0].asked_at,
                recent=tuple(each.asked_at for each in newest[:RECENT]),
                wordings=tuple(dict.fromkeys(each.wording for each in newest))[:_MOST_WORDINGS],
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


def _ids(groups: Sequence[Sequence[Unanswered]], known: Mapping[str, str]) -> Iterator[str]:
    """The ids of groups: that of the earlier gap with the same wordings, else of its first wording; all differ."""
    taken: set[str] = set()
    for group in groups:
        wordings = [each.wording for each in sorted(group, key=lambda each: (each.asked_at, each.in_full))]
        earlier = [known[each] for each in wordings if each in known]
        gap_id = next(each for each in (*earlier, *wordings, _wording(wordings[0])) if each not in taken)
        taken.add(gap_id)
        yield gap_id


def grouped(asked: Sequence[Unanswered], embedder: Embedder) -> list[list[Unanswered]]:
    """Put together the questions that ask the same, by their embeddings.

    Each question joins the group whose first question is most like it, if one is at all; the newest come first.
    """
    by_text: dict[str, list[Unanswered]] = {}
    for each in sorted(asked, key=lambda each: each.asked_at, reverse=True):
        by_text.setdefault(each.wording, []).append(each)
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
    """Load the gaps; ``None`` if they were never looked for. Those of an earlier release are masked first.

    Raises:
        DamagedLayerError: the file is not as it was written.
        StorageError: it is unreadable.
    """
    path = _path(settings)
    if not path.exists():
        return None
    data = read_bytes(path)
    gaps = parse_record(path, data, KnowledgeGaps, "unanswered_questions")
    if b'"is_masked"' not in data:
        gaps = gaps.model_copy(update={"gaps": tuple(map(_taken_over, gaps.gaps))})
        save_gaps(settings, gaps)
    return gaps


def _taken_over(gap: Gap) -> Gap:
    """A gap of an earlier release, which kept the beginnings of whole mails: masked, and of a mail only questions."""
    question = gap.question
    if len(question) > _LONGEST_EARLIER:
        sentences = sentences_of(question)
        question = " ".join(each for each in sentences if each.endswith("?")) or sentences[0]
    wording = _wording(gap.question or fingerprint(gap.article_id, gap.count, gap.last_asked))
    return gap.model_copy(update={"id": wording, "question": without_personal(question), "wordings": (wording,)})


def _wording(text: str) -> str:
    return fingerprint(" ".join(text.casefold().split()))[:16]


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
