"""Check that chunks contain the whole article, fit the embedder, and have valid ids and numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from kb_pipeline.records import CheckResult, Chunk
from kb_pipeline.steps.checks.contents import shown_paths
from kb_pipeline.steps.checks.specs import named, outcome
from kb_pipeline.steps.chunk import embedding_text, plain_text
from kb_pipeline.steps.chunk.plain import CountTokens, context_line

# Words and all symbols except quote marks, because a quote that is cut at an empty line loses one.
_TOKEN = re.compile(r"\w+|[^\w\s>]")
_WORD = re.compile(r"\w")


def chunks_cover_the_article(markdown: str, chunks: Sequence[Chunk]) -> CheckResult:
    """Check that chunks contain every word of ``article.md`` in order and every image, and have valid ids and numbers.

    Chunks may repeat something (the header of a cut table, the image of a cut description), but must not omit anything.
    """
    expected = _TOKEN.findall(markdown)
    chunk_tokens = [_TOKEN.findall(chunk.content) for chunk in chunks]
    # ``in`` consumes the iterator: the tokens must follow in order, with others between them.
    rest = chain.from_iterable(chunk_tokens)
    complete = all(token in rest for token in expected) or _is_complete_in_parts(expected, chunk_tokens)
    lost = [] if complete else _lost_lines(markdown, chunk_tokens)
    problems = [
        *named("passage", "lost or out of order", lost),
        *_image_problems(markdown, chunks),
        *_name_problems(chunks),
    ]
    return outcome(
        "chunks_cover_the_article",
        problems,
        "Materialize chunks again. If the check still fails, the chunker cuts this article incorrectly: report it.",
        {"chunks": len(chunks), "passages_lost": len(lost)},
    )


def chunk_sizes_are_in_bounds(chunks: Sequence[Chunk], *, count_tokens: CountTokens, max_tokens: int) -> CheckResult:
    """Check that no chunk is empty, or longer than ``max_tokens``.

    A chunk may be longer if no cut would help. The exact rule: its content without list markers (those of a cut item
    are not counted) must fit into what title and headings leave of ``max_tokens``, at least half of it; or it would fit
    without its longest unbroken run of characters (an address, a key), and that run takes more than a quarter.
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
            *named("chunk", f"longer than {max_tokens:,} tokens", long),
        ],
        "Lower KB_CHUNK_MAX_TOKENS and materialize chunks again.",
        {"chunks": len(chunks), "largest": max(sizes, default=0), "smallest": min(sizes, default=0)},
    )


def _is_complete_in_parts(expected: Sequence[str], chunk_tokens: Sequence[Sequence[str]]) -> bool:
    """Return whether all tokens are there if a word too long for a chunk continues in the next one."""
    tokens = iter(expected)
    token = next(tokens, None)
    for chunk in chunk_tokens:
        last_word = max((i for i, part in enumerate(chunk) if _WORD.match(part)), default=None)
        for i, part in enumerate(chunk):
            if token == part:
                token = next(tokens, None)
            elif token is not None and i == last_word and token.startswith(part):
                token = token[len(part) :]
    return token is None


def _lost_lines(markdown: str, chunk_tokens: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines that are in no chunk as they are, or a note if only their order or number is wrong."""
    text = f" {' '.join(chain.from_iterable(chunk_tokens))} "
    lines = [line for line in markdown.split("\n") if f" {' '.join(_TOKEN.findall(line))} " not in text]
    return [line for line in lines if _TOKEN.search(line)] or [
        "(all lines are present, but not in this order or number)"
    ]


def _image_problems(markdown: str, chunks: Sequence[Chunk]) -> Iterator[str]:
    expected = shown_paths(markdown)
    shown = {chunk.id: shown_paths(chunk.content) for chunk in chunks}
    lost = expected - set().union(*shown.values())
    differing = [
        chunk.id
        for chunk in chunks
        if set(chunk.image_urls) != {f"{chunk.article_id}/{path}" for path in shown[chunk.id]}
    ]
    yield from named("image", "of the article without a chunk", sorted(lost))
    yield from named("chunk", "whose image_urls are not the images that it shows", differing)


def _name_problems(chunks: Sequence[Chunk]) -> Iterator[str]:
    times = Counter(chunk.id for chunk in chunks)
    yield from named("chunk id", "used more than once", [key for key in times if times[key] > 1])
    misnumbered = [f"{c.id} is {c.chunk_index}, not {i}" for i, c in enumerate(chunks) if c.chunk_index != i]
    yield from named("chunk", "with a wrong number", misnumbered)


_LIST_MARKER = re.compile(r"^ *([-+*]|\d{1,9}[.)]) ", re.M)


def _is_unsplittable(chunk: Chunk, count_tokens: CountTokens, max_tokens: int) -> bool:
    context = count_tokens(context_line(chunk.title, chunk.heading_path))
    room = max(max_tokens - context, max_tokens // 2, 1)
    text = plain_text(chunk.content)
    size = count_tokens(text) - count_tokens(" ".join(_LIST_MARKER.findall(text)))
    if size <= room:
        return True
    run = count_tokens(max(text.split(), key=len, default=""))
    return run > max_tokens // 4 and size - run <= room
