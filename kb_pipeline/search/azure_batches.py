"""Documents in batches that Azure AI Search takes: bounded in number and bytes, an article whole where possible."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

MOST_DOCUMENTS = 1000
"""Of a batch: the service's limit."""
MOST_BYTES = 14_000_000
"""Of a batch: the service's limit is 16 MB."""
USUAL_DOCUMENTS = 200
USUAL_BYTES = 4_000_000
"""What a batch is filled up to: several of them go at once, and what fails is not much to send again."""

T = TypeVar("T")


def batches(articles: Iterable[Sequence[T]], size: Callable[[T], int]) -> Iterator[list[T]]:
    """All documents of all articles, in their order.

    An article is cut only if no batch can hold it: what is sent at once is also seen soonest as a whole.
    """
    batch: list[T] = []
    filled = 0
    for documents in articles:
        for part, weight in _parts(documents, size):
            if batch and (len(batch) + len(part) > USUAL_DOCUMENTS or filled + weight > USUAL_BYTES):
                yield batch
                batch, filled = [], 0
            batch, filled = [*batch, *part], filled + weight
    if batch:
        yield batch


def _parts(documents: Sequence[T], size: Callable[[T], int]) -> Iterator[tuple[list[T], int]]:
    """An article's documents in as few parts as the limits allow, with their bytes."""
    part: list[T] = []
    weight = 0
    for document in documents:
        more = size(document)
        if part and (len(part) == MOST_DOCUMENTS or weight + more > MOST_BYTES):
            yield part, weight
            part, weight = [], 0
        part.append(document)
        weight += more
    if part:
        yield part, weight
