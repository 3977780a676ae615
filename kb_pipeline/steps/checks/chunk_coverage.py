"""Do an article's chunks hold all of it, under names and numbers an index can rely on?"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

from kb_pipeline.records import CheckResult, Chunk
from kb_pipeline.steps.checks.results import named, outcome
from kb_pipeline.steps.checks.shown_images import shown_paths

# Words and all signs but the mark of a quote, which a quote cut at an empty line loses there.
_TOKEN = re.compile(r"\w+|[^\w\s>]")
_WORD = re.compile(r"\w")


def chunks_cover_the_article(markdown: str, chunks: Sequence[Chunk]) -> CheckResult:
    """Every word of ``article.md`` is in a chunk, in order, and every image; ids are unique, numbers consecutive.

    Chunks may repeat something (the header of a cut table, the image of a cut description), never leave it out.
    """
    wanted = _TOKEN.findall(markdown)
    found = [_TOKEN.findall(chunk.content) for chunk in chunks]
    lost = [] if _holds_all(wanted, found) else _lost_lines(markdown, found)
    problems = [
        *named("passage", "lost or out of order", lost),
        *_image_problems(markdown, chunks),
        *_name_problems(chunks),
    ]
    return outcome(
        "chunks_cover_the_article",
        problems,
        "Materialise chunks again; if it stays so, the chunker cuts this article wrongly: report it.",
        {"chunks": len(chunks), "passages_lost": len(lost)},
    )


def _holds_all(wanted: Sequence[str], found: Sequence[Sequence[str]]) -> bool:
    """Whether the tokens are there in their order, others between them."""
    rest = chain.from_iterable(found)
    return all(token in rest for token in wanted) or _holds_all_in_parts(wanted, found)


def _holds_all_in_parts(wanted: Sequence[str], found: Sequence[Sequence[str]]) -> bool:
    """The same where a word too long for a chunk goes on in the next one."""
    tokens = iter(wanted)
    token = next(tokens, None)
    for chunk in found:
        last_word = max((i for i, part in enumerate(chunk) if _WORD.match(part)), default=None)
        for i, part in enumerate(chunk):
            if token == part:
                token = next(tokens, None)
            elif token is not None and i == last_word and token.startswith(part):
                token = token[len(part) :]
    return token is None


def _lost_lines(markdown: str, found: Sequence[Sequence[str]]) -> list[str]:
    """The lines that are in no chunk as they are; the whole article where each is, but not in its order."""
    text = f" {' '.join(chain.from_iterable(found))} "
    lines = [line for line in markdown.split("\n") if f" {' '.join(_TOKEN.findall(line))} " not in text]
    return [line for line in lines if _TOKEN.search(line)] or ["(all lines are there, but not in this order or number)"]


def _image_problems(markdown: str, chunks: Sequence[Chunk]) -> Iterator[str]:
    wanted = shown_paths(markdown)
    shown = {chunk.id: shown_paths(chunk.content) for chunk in chunks}
    lost = wanted - set().union(*shown.values())
    unlike = [
        chunk.id
        for chunk in chunks
        if set(chunk.image_urls) != {f"{chunk.article_id}/{path}" for path in shown[chunk.id]}
    ]
    yield from named("image", "of the article without a chunk", sorted(lost))
    yield from named("chunk", "whose image_urls are not the images that it shows", unlike)


def _name_problems(chunks: Sequence[Chunk]) -> Iterator[str]:
    times = Counter(chunk.id for chunk in chunks)
    yield from named("chunk id", "used more than once", [key for key in times if times[key] > 1])
    misnumbered = [f"{c.id} is {c.chunk_index}, not {i}" for i, c in enumerate(chunks) if c.chunk_index != i]
    yield from named("chunk", "out of number", misnumbered)
