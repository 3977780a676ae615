"""Composes what articles say into one text for another agent, within a budget of tokens."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from app.callers.principal import Principal
from app.grounding.citations import with_image_urls
from app.library.articles import ArticleNotFoundError
from app.logs.auditing import note
from app.model.tokens import estimate_tokens
from app.schema.context import ContextArticle, KnowledgeContext
from app.service import AgentService
from kb_pipeline.steps.chunk.blocks import parse_blocks

CUT = "*[cut here: the rest does not fit]*"
"""The end of a text that holds not everything."""
_SEPARATOR = "\n\n"


async def compose_context(
    service: AgentService, articles: Sequence[str], who: Principal, tokens: int
) -> KnowledgeContext:
    """The sections of these articles that this person may see in their mode, in the order asked for.

    ``articles`` are ids; one of them may be several with commas between them.

    Raises:
        ArticleNotFoundError: there is no such article that this person may see.
        KnowledgeBaseError: the index cannot be read.
    """
    named = [each for written in articles for each in await asyncio.to_thread(_ids, service, written, who)]
    ids = list(dict.fromkeys(named))
    note(*ids)
    hits = await service.retrieval.passages(ids, who)
    sections = {key: [hit.chunk for hit in group] for key, group in groupby(hits, lambda hit: hit.chunk.article_id)}
    titles: dict[str, str] = {}
    texts: dict[str, list[str]] = {}
    for key in ids:
        chunks = sections.get(key, [])
        # One without sections may be there, with none in this mode; one that this person may not see is not.
        titles[key] = chunks[0].title if chunks else (await _manifest_title(service, key, who))
        texts[key] = [with_image_urls(chunk.content, key).strip() for chunk in chunks]
    composed = compose([_with_title(titles[key], texts[key]) for key in ids], tokens)
    return KnowledgeContext(
        text=composed.text,
        mode=who.mode or service.retrieval.workspace.settings.mode,
        tokens=estimate_tokens(composed.text),
        is_cut=composed.is_cut,
        articles=tuple(
            ContextArticle(article_id=key, title=titles[key], sections=whole, of_sections=len(texts[key]))
            for key, whole in zip(ids, composed.whole, strict=True)
        ),
    )


def _ids(service: AgentService, written: str, who: Principal) -> list[str]:
    if "," not in written:
        return [written]
    try:
        service.articles.manifest(written, who)  # a comma may be part of an id
    except ArticleNotFoundError:
        return [each.strip() for each in written.split(",") if each.strip()]
    return [written]


async def _manifest_title(service: AgentService, article_id: str, who: Principal) -> str:
    return (await asyncio.to_thread(service.articles.manifest, article_id, who)).title


def _with_title(title: str, sections: Sequence[str]) -> list[str]:
    """Return the sections; the first begins with the title of the article."""
    if not sections or sections[0].startswith("# "):
        return list(sections)
    return [f"# {title}{_SEPARATOR}{sections[0]}", *sections[1:]]


@dataclass(frozen=True, slots=True)
class Composed:
    """A text of sections. ``whole`` says how many of each article are in it whole."""

    text: str
    whole: tuple[int, ...]
    is_cut: bool


def compose(articles: Sequence[Sequence[str]], tokens: int) -> Composed:
    """Join the sections of articles, in order, into a text of at most ``tokens``, as :func:`estimate_tokens` counts.

    As many whole sections as fit come first; of the next one follow the blocks that fit, and :data:`CUT`.
    """
    everything = _SEPARATOR.join(section for sections in articles for section in sections)
    if estimate_tokens(everything) <= tokens:
        return Composed(everything, tuple(map(len, articles)), is_cut=False)
    room = tokens - _cost(CUT)
    pieces: list[str] = []
    whole = [0] * len(articles)
    for number, section in _numbered(articles):
        if _cost(section) > room:
            pieces += _beginning(section, room)
            break
        pieces.append(section)
        whole[number] += 1
        room -= _cost(section)
    return Composed(_SEPARATOR.join([*pieces, CUT]), tuple(whole), is_cut=True)


def _numbered(articles: Sequence[Sequence[str]]) -> Iterator[tuple[int, str]]:
    return ((number, section) for number, sections in enumerate(articles) for section in sections)


def _cost(piece: str) -> int:
    return estimate_tokens(piece + _SEPARATOR)


def _beginning(section: str, room: int) -> Iterator[str]:
    """Yield the first blocks of a section that fit, unless that is only its heading."""
    fitting: list[str] = []
    for block in parse_blocks(section):
        text = block.text.strip("\n")
        if _cost(text) > room:
            break
        fitting.append(text)
        room -= _cost(text)
    if not all(text.startswith("#") for text in fitting):
        yield from fitting
