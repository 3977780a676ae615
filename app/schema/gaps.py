"""What was asked and not answered."""

from app.schema.wire import Wire


class KnowledgeGap(Wire):
    """Questions that ask the same and were not answered: how often they were asked, and when last (ISO 8601, UTC).

    ``question`` is how they were last worded; it is empty for callers who do not review, and where no content is
    recorded. ``refused``, ``closest`` and ``disliked`` count why they are here. ``article_id`` and ``title`` are those
    of the nearest article, if there is one that the caller may see.
    """

    question: str = ""
    count: int
    refused: int = 0
    closest: int = 0
    disliked: int = 0
    last_asked: str
    article_id: str | None = None
    title: str | None = None


class KnowledgeGapList(Wire):
    """The gaps of the last ``days`` days, most asked first. ``made_at`` is ``None`` if they were never looked for.

    ``is_reviewer``: the caller may see questions of others. ``records_content``: words of questions are kept.
    """

    made_at: str | None
    days: int
    questions: int = 0
    is_reviewer: bool = False
    records_content: bool = False
    gaps: tuple[KnowledgeGap, ...] = ()
