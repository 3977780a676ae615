"""Is every chunk of a size that its vector can stand for?"""

import re
from collections.abc import Sequence

from kb_pipeline.records import CheckResult, Chunk
from kb_pipeline.steps.checks.results import named, outcome
from kb_pipeline.steps.chunk import embedding_text, plain_text
from kb_pipeline.steps.chunk.plain import CountTokens, context_line

_LIST_MARKER = re.compile(r"^ *([-+*]|\d{1,9}[.)]) ", re.M)


def chunk_sizes_are_in_bounds(chunks: Sequence[Chunk], *, count_tokens: CountTokens, max_tokens: int) -> CheckResult:
    """No chunk is empty, and none has more than ``max_tokens``, the embedder's window, of which it sees the beginning.

    A chunk may have more where no cut would help. The exact rule: what its content has without list markers (a cut
    item's are not counted) must fit into what title and headings leave of the window, at least half of it; or would
    fit without its longest unbroken run of characters (an address, a key), if that takes more than a quarter.
    """
    sizes = [count_tokens(embedding_text(chunk)) for chunk in chunks]
    empty = [chunk for chunk in chunks if not chunk.content.strip()]
    long = [
        f"{' > '.join(chunk.heading_path) or chunk.title} ({size:,} tokens)"
        for chunk, size in zip(chunks, sizes, strict=True)
        if size > max_tokens and not _is_unsplittable(chunk, count_tokens, max_tokens)
    ]
    return outcome(
        "chunk_sizes_are_in_bounds",
        [
            *named("chunk", "empty", [f"{chunk.chunk_index}: {chunk.section_header}" for chunk in empty]),
            *named("chunk", f"longer than the embedder's window of {max_tokens:,} tokens", long),
        ],
        "Lower KB_CHUNK_MAX_TOKENS and materialise chunks again.",
        {"chunks": len(chunks), "largest": max(sizes, default=0), "smallest": min(sizes, default=0)},
    )


def _is_unsplittable(chunk: Chunk, count_tokens: CountTokens, max_tokens: int) -> bool:
    context = count_tokens(context_line(chunk.title, chunk.heading_path))
    room = max(max_tokens - context, max_tokens // 2, 1)
    text = plain_text(chunk.content)
    size = count_tokens(text) - count_tokens(" ".join(_LIST_MARKER.findall(text)))
    if size <= room:
        return True
    run = count_tokens(max(text.split(), key=len, default=""))
    return run > max_tokens // 4 and size - run <= room
