"""What became of the batches that were requested before: folded into the memory, article by article."""

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple, Protocol

from kb_pipeline.changes.memory import GONE, Batch, Memory, Retry
from kb_pipeline.staging import StagingScan

Status = Literal["active", "finished"]


class Attempt(NamedTuple):
    """The last attempt at an article: the signature it had then, and whether it failed for a passing reason.

    ``generation`` is the one that it was published in; ``None`` when it failed, which it would in any.
    """

    signature: str = ""
    transient: bool = False
    generation: str | None = None

    def is_of(self, signature: str, generation: str) -> bool:
        """Whether nothing would be different if it were attempted today."""
        return self.signature == signature and self.generation in (None, generation)


class Surroundings(Protocol):
    """What the planner asks about articles and runs, and only when it has to."""

    def known(self) -> Collection[str]:
        """Ids of all articles that have a state or a partition."""

    def attempts(self, article_ids: Collection[str]) -> Mapping[str, Attempt]:
        """The last attempt at each of the articles; one that was never attempted may be left out."""

    def statuses(self, batch_ids: Collection[str]) -> Mapping[str, Status]:
        """What became of the batches; those that no run is known of are left out."""

    def unfinished(self) -> Iterable[Batch]:
        """The batches of all runs under way, for when the memory is lost; their signatures may be empty."""


def remembered_by_others(scan: StagingScan, surroundings: Surroundings, generation: str, now: float) -> Memory:
    """A memory made anew from the articles' states and the runs under way."""
    under_way = tuple(surroundings.unfinished())
    # no batch id of the lost memory comes again
    books = _Books(Memory(generation=generation, sequence=int(now)), scan, now)
    for article_id, attempt in surroundings.attempts(scan.signatures.keys()).items():
        if attempt.is_of(scan.signatures[article_id], generation):
            books.attempted(article_id, attempt)
    return books.closed(under_way)


def take_stock(
    memory: Memory, scan: StagingScan, statuses: Mapping[str, Status], surroundings: Surroundings, now: float
) -> Memory:
    """The memory without the batches that ended, and with what they did.

    An article is done when its last attempt is of what is staged now, in this generation. One that failed for
    a passing reason, or whose run ended before its turn, is to be tried again; one that has changed since is
    requested like a new one.
    """
    ended = [batch for batch in memory.outstanding if statuses.get(batch.id) == "finished"]
    if not ended:
        return memory
    books = _Books(memory, scan, now)
    for batch in ended:
        if batch.kind == "remove":
            books.close_removal(batch, surroundings.known())
        else:
            books.close_ingest(batch, surroundings.attempts(batch.signatures.keys()))
    return books.closed(batch for batch in memory.outstanding if batch not in ended)


class _Books:
    """What is done and what is to be tried again, while it is being brought up to date."""

    def __init__(self, memory: Memory, scan: StagingScan, now: float) -> None:
        self._memory, self._staged, self._now = memory, scan.signatures, now
        self._done, self._retries = dict(memory.done), dict(memory.retries)

    def close_removal(self, batch: Batch, known: Collection[str]) -> None:
        for article_id in batch.signatures:
            if article_id in known and article_id not in self._staged:
                self._try_again(article_id, GONE, crashes=1)
            else:
                self._done.pop(article_id, None)
                self._retries.pop(article_id, None)

    def close_ingest(self, batch: Batch, attempts: Mapping[str, Attempt]) -> None:
        for article_id, requested in batch.signatures.items():
            attempt = attempts.get(article_id, Attempt())
            staged = self._staged.get(article_id, requested)
            if attempt.is_of(staged, self._memory.generation):
                self.attempted(article_id, attempt)
            elif staged == requested:  # the run ended before its turn
                self._try_again(article_id, staged, crashes=1)

    def attempted(self, article_id: str, attempt: Attempt) -> None:
        if attempt.transient:
            self._try_again(article_id, attempt.signature, attempts=1)
        else:
            self._done[article_id] = attempt.signature
            self._retries.pop(article_id, None)

    def _try_again(self, article_id: str, signature: str, *, attempts: int = 0, crashes: int = 0) -> None:
        known = self._retries.get(article_id)
        if known and known.signature == signature:
            attempts, crashes = attempts + known.attempts, crashes + known.crashes
        self._retries[article_id] = Retry(signature=signature, since=self._now, attempts=attempts, crashes=crashes)
        self._done.pop(article_id, None)

    def closed(self, outstanding: Iterable[Batch]) -> Memory:
        return self._memory.model_copy(
            update={"done": self._done, "retries": self._retries, "outstanding": tuple(outstanding)}
        )
