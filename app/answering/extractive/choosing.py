"""Chooses what of the best sections answers a question, by the vectors of words: one or two sentences, and a picture.

What belongs together stays together: all steps of a procedure, a question with its answer, the name of an option with
what it does, the head of a table with its rows.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import partial
from itertools import islice, takewhile

from app.answering.extractive.blocks import PassageBlock, blocks_of, heading_of, section_of
from app.answering.extractive.quoting import PassageImage, pictures_beside, pictures_of
from app.answering.nearness import Nearness
from app.language.sentences import Unit, units_of
from app.language.suggestions import without_number
from app.language.words import readable, words
from app.schema.passages import Citation
from kb_pipeline.pasted import ASKS

_ENOUGH, _MOST = 40, 70
"""Words after which nothing more is quoted first, and that are quoted at most: two or three sentences."""
_BEGINNING = 100
"""Words of what is quoted first with the beginning of its paragraph; where more would be needed, it begins later."""
_COMPARED, _OF_SECTION = 3, 2.0
"""Passages whose sentences are compared, and the weight of a passage's share of the best score beside the score of its
sentences. On 68 questions about three manuals that were used for nothing else, weights of 1 to 3 quote the words that
answer 28 or 29 times, and the first passage alone 25 times."""
_RARELY_NEARER = 0.9
"""A score that the sentences of one in five passages reach. Where another passage would need more, its sentences are
not compared: with the same answers, this saves two thirds of the time for them."""
_STEPS = 1600
"""Characters of a procedure that is quoted whole; of a longer one, its steps from the best on."""
_WINDOWS = 100
"""Parts of a section that are compared with the question: 2 ms each on one core."""
_COMPARED_PICTURES = 20
"""Pictures whose descriptions are compared with the question; each takes as long as a part of a section."""
_FOLLOWING = 3
"""Blocks in which sentences go on."""
_REACH = 5
"""Parts of a section between what is quoted and a picture that still shows it."""
_PICTURES = 3
"""Pictures that are shown at once; more would push the sources off the screen."""
_IDENTIFIER = re.compile(r"(?<![\w-])(?:--?|[\\$])?\w+(?:[.-]\w+)*")
_SIGNS = "-\\$"
"""What the name of an option, a command or a variable begins with."""
_SHORTEST_NUMBER = 3
"""Characters of a number or an identifier that names one thing; shorter ones count things."""
_ESCAPED = re.compile(r"\\(?=[^A-Za-z0-9\s])")
_AS_NEAR = 0.9
"""Share of the first section's score from which another one is quoted as well."""
_NEAR = 0.8
"""Share of the first section's score from which another one is named. On manuals that were used for
nothing else, 82 of 1,303 sections above it have the answer, and 6 of 421 below it."""
_MORE = 2
"""Sections that are quoted beside one that may not answer: the answer was in the first three for 34 of 79 questions in
other words, and in the first one for 18 %."""


@dataclass(frozen=True, slots=True)
class Lead:
    """What is quoted first: some units of a passage, the last heading before them, and how near they are."""

    citation: Citation
    units: tuple[Unit, ...]
    heading: str
    score: float


@dataclass(frozen=True, slots=True)
class Quotable:
    """What an answer quotes: a lead with its pictures, the passages of its section in order, and other sections.

    ``more`` are passages of other sections that are quoted as well, folded; ``others`` are only named. What is much
    farther from the question than the first section is not named.
    """

    lead: Lead
    pictures: tuple[PassageImage, ...]
    section: tuple[Citation, ...]
    more: tuple[Citation, ...]
    others: tuple[Citation, ...]


def quotable(
    query: str,
    lead: Lead,
    citations: Sequence[Citation],
    section: Sequence[Citation],
    nearness: Nearness,
    *,
    is_sure: bool,
) -> Quotable:
    """What to quote of passages, best first, beside a lead; ``section`` are those of its section, in order.

    If the search is not sure of the section, the next ones are quoted as well; else one that is as near.
    """
    question = query.partition("\n")[0]
    best = lead.citation
    others = of_other_sections(citations, [best])
    as_near = [each for each in others[:1] if each.score >= _AS_NEAR * best.score]
    more = as_near if is_sure else others[:_MORE]
    return Quotable(
        lead,
        tuple(pictures_for(question, lead, citations, nearness)),
        tuple(section),
        tuple(more),
        tuple(each for each in near([best, *others])[1:] if each not in more),
    )


def best_lead(query: str, citations: Sequence[Citation], nearness: Nearness) -> Lead | None:
    """What answers best of passages, best first: that whose sentences and whose score are nearest together.

    The search compares whole sections, so that the sentence that answers may stand in the second one. The first one
    has no rival if the question names its heading or an option in it, or if it answers what another section asks.
    """
    question = query.partition("\n")[0]
    found = (lead for each in citations if (lead := lead_of(query, each, nearness)))
    first = next(found, None)
    if first is None or _is_named_section(question, first.citation):
        return first
    if _names_of(identifiers(question), first.citation):
        return first
    if any(_asks(each, first.citation) for each in citations):
        return first

    def behind(citation: Citation) -> float:
        return _OF_SECTION * (1 - citation.score / first.citation.score) if first.citation.score else 0.0

    best = first
    for rival in near(citations)[1:_COMPARED]:
        ahead = best.score - behind(best.citation) + behind(rival)
        if ahead < _RARELY_NEARER and (lead := lead_of(query, rival, nearness)) and round(lead.score - ahead, 6) > 0:
            best = lead
    return best


def near(citations: Sequence[Citation]) -> list[Citation]:
    """The passages that are about as near to the question as the first one; far ones help nobody."""
    return [each for each in citations if each.score >= _NEAR * citations[0].score]


def named_first(query: str, citations: Sequence[Citation]) -> list[Citation]:
    """The passages with those first in which a heading stands that the question names, and then those below it.

    Other sections say the same words oftener; who asks in the words of a heading, no more and no less, means its
    section, from where it begins. Behind them come those that have an option or a command as a name that the question
    says.
    """
    question = query.partition("\n")[0]
    asked = identifiers(question)
    articles = list(dict.fromkeys(citation.article_id for citation in citations))

    def rank(citation: Citation) -> tuple[object, ...]:
        if _named_heading(question, citation):
            return (0,)
        is_below = _is_named_section(question, citation)
        if is_below:
            return (1, articles.index(citation.article_id), citation.pages[:1])
        return (2, -_names_of(asked, citation))

    return sorted(citations, key=rank)


def _is_named_section(question: str, citation: Citation) -> bool:
    """Whether the question names a heading in a passage, or one that the passage stands under."""
    above = any(_is_named(question, heading) for heading in citation.heading_path)
    return above or _named_heading(question, citation) is not None


def _names_of(asked: Set[str], citation: Citation) -> int:
    """How many of the identifiers that are asked for are names of one block of a passage."""
    if not asked:
        return 0
    names = ("\n".join(unit.text for unit in block.terms) for block in blocks_of(citation))
    return max((len(asked & identifiers(name)) for name in names), default=0)


def answering_first(citations: Sequence[Citation]) -> list[Citation]:
    """The passages with the nearest one first that stands below the first section, if the heading of that asks.

    Who asked before, in a thread, says the words of the question oftener than those who answer below.
    """
    below = next((each for each in citations if _asks(citations[0], each)), None)
    return [below, *(each for each in citations if each is not below)] if below else list(citations)


def _asks(citation: Citation, other: Citation) -> bool:
    """Whether a section asks what another one, which stands below it, answers."""
    (article_id, path), (other_id, below) = section_of(citation), section_of(other)
    is_below = article_id == other_id and len(below) > len(path) > 0 and below[: len(path)] == path
    return is_below and any(sign in path[-1] for sign in ASKS)


def _named_heading(question: str, citation: Citation) -> Unit | None:
    """The heading in a passage that the question names, if one is there and text behind it."""
    units = units_of(citation.passage)
    headings = (unit for unit in units if unit.kind == "heading" and _is_named(question, unit.text.lstrip("> #\t")))
    heading = next(headings, None)
    return heading if heading and any(b.units[0].start > heading.start for b in blocks_of(citation)) else None


def _is_named(question: str, heading: str) -> bool:
    """Whether the question says the words of a heading, and no others; numbers of sections do not count."""
    asked = set(words(without_number(question)))
    return bool(asked) and asked == set(words(without_number(heading)))


def lead_of(question: str, citation: Citation, nearness: Nearness) -> Lead | None:
    """The part of a passage that answers best, below the heading that the question names if it names one.

    ``None`` of a passage without text.

    Raises:
        ModelError: the files of the embedding model are damaged.
    """
    windows = list(islice(_windows(blocks_of(citation)), _WINDOWS))
    places = {unit: at for at, unit in enumerate(dict.fromkeys(unit for _, window in windows for unit in window))}
    texts = [readable(unit.text) for unit in places]
    scores = nearness.answering(question, texts, [[places[unit] for unit in window] for _, window in windows])
    if not scores:
        return None
    heading = _named_heading(question, citation)
    below = set(_below(heading, question, windows)) if heading else ()
    asked = identifiers(question)
    named = [len(asked & identifiers(_name(block, units))) if asked else 0 for block, units in windows]
    best = max(range(len(scores)), key=lambda at: (at in below, named[at], round(scores[at], 6), -at))
    block, units = windows[best]
    return Lead(citation, _from_beginning(block, units), heading_of(block), scores[best])


def _from_beginning(block: PassageBlock, units: Sequence[Unit]) -> tuple[Unit, ...]:
    """What is quoted of a block, from its beginning if there is room: "it" and "this" mean what is said there.

    What stands under a name says in its first sentence what that is; it is quoted, however much is left out behind it.
    """
    at = next(at for at, unit in enumerate(block.units) if unit in units)
    before = block.units[:at]
    if not before or block.steps or any(unit.item or unit.kind in ("header", "row") for unit in block.units):
        return tuple(units)
    room = _BEGINNING - sum(map(_length, units))
    for beginning in (before, before[:1] if block.terms else ()):
        if beginning and sum(map(_length, beginning)) <= room:
            return tuple(sorted((*beginning, *units), key=lambda unit: unit.start))
    return tuple(units)


def _below(heading: Unit, question: str, windows: Sequence[tuple[PassageBlock, tuple[Unit, ...]]]) -> Sequence[int]:
    """The places of the windows that belong to a heading which the question names.

    Who asks something is answered by any of its sentences. The heading alone as a question, or one that smaller
    headings follow at once, prefers none, and is read from the beginning.
    """
    behind = [at for at, (_, units) in enumerate(windows) if units[-1].start > heading.start]
    own = [at for at in behind if windows[at][0].heading == heading]
    is_all = _letters(without_number(question)) == _letters(without_number(heading.text.lstrip("> #\t")))
    return behind[:1] if is_all or not own else own


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def identifiers(text: str) -> set[str]:
    """The numbers and identifiers of a markdown text, such as ``P-10888``, ``--exclude-dir`` and ``max_connections``.

    A row of a table or an option is known by them, vectors of words are not.
    """
    return {word.casefold() for word in _IDENTIFIER.findall(_ESCAPED.sub("", readable(text))) if _identifies(word)}


def _identifies(word: str) -> bool:
    is_numbered = len(word) >= _SHORTEST_NUMBER and any(map(str.isdigit, word))
    return is_numbered or word[0] in _SIGNS or "_" in word.strip("_")


def _name(block: PassageBlock, units: Sequence[Unit]) -> str:
    """What a part of a passage is known by: the row of a table, or else the names that it stands under."""
    return "\n".join(unit.text for unit in (units[-1:] if _is_table(block) else block.terms))


def _windows(blocks: Sequence[PassageBlock]) -> Iterator[tuple[PassageBlock, tuple[Unit, ...]]]:
    """Yield what may be quoted first, and its block: sentences that follow each other, a procedure, a row of a table.

    Each begins with the names that it stands under. Sentences of several blocks belong together if these stand under
    the same names: a question and its answer do, which are one if there is room, as a list is with what introduces it.
    """
    quoted_whole: set[Unit] = set()
    for at, block in enumerate(blocks):
        names = block.terms
        if block.steps:
            yield from ((block, (*names, *steps)) for steps in _procedures(block))
        elif _is_table(block):
            head = [unit for unit in block.units if unit.kind != "row"]
            for row in block.units:
                if row.kind == "row":
                    yield block, (*names, *head, row)
        elif block.units[0] not in quoted_whole:
            going_on = takewhile(partial(_goes_on, block), blocks[at + 1 : at + 1 + _FOLLOWING])
            sentences = [*block.units, *(unit for other in going_on for unit in other.units)]
            is_list = any(unit.item for unit in block.units)
            together = block.units if is_list and not names else sentences
            if (names or is_list) and sum(map(_length, together)) <= _MOST:
                quoted_whole.update(together)
                yield block, (*names, *together)
                continue
            for first in range(len(block.units)):
                is_item = first and block.units[first].item
                introduction = block.units[:1] if is_item else ()
                following = block.units[first:] if is_item else sentences[first:]
                yield block, (*names, *introduction, *_enough(following))


def _goes_on(block: PassageBlock, other: PassageBlock) -> bool:
    """Return whether the sentences of another block go on with those of this one."""
    names_alike = (other.heading, other.terms) == (block.heading, block.terms)
    return names_alike and not _is_table(other) and not other.steps


def _length(unit: Unit) -> int:
    return len(readable(unit.text).split())


def _is_table(block: PassageBlock) -> bool:
    return any(unit.kind == "row" for unit in block.units)


def _enough(units: Sequence[Unit]) -> Sequence[Unit]:
    """Return the first units, until they are long enough; none of them leads to something that is left out."""
    size = end = 0
    for unit in units:
        length = _length(unit)
        if size and (size >= _ENOUGH or size + length > _MOST):
            break
        size += length
        end += 1
    return units[: end - 1] if end > 1 and _leads_on(units[end - 1], units[end:]) else units[:end]


def _leads_on(unit: Unit, following: Sequence[Unit]) -> bool:
    """Return whether a unit announces what follows: with a colon, or as a question above its answer."""
    asks = readable(unit.text).rstrip("*_ ").endswith(ASKS)
    return unit.text.endswith(":") or (asks and bool(following) and following[0].block == unit.block)


def _procedures(block: PassageBlock) -> Iterator[tuple[Unit, ...]]:
    """Yield a procedure, or each part of a long one that begins with a step and has room."""
    starts = [at for at, unit in enumerate(block.units) if unit.numbered and unit.depth == 1]
    for start in [0] if sum(block.lengths) <= _STEPS else [0, *starts[1:]]:
        room, end = _STEPS, start
        while end < len(block.units) and (room := room - block.lengths[end]) >= 0:
            end += 1
        yield block.units[start : max(end, start + 1)]


def of_other_sections(citations: Sequence[Citation], quoted: Iterable[Citation]) -> list[Citation]:
    """The first passage of each section that is not among those quoted."""
    sections = {section_of(each) for each in quoted}
    first: dict[object, Citation] = {}
    for citation in citations:
        if section_of(citation) not in sections:
            first.setdefault(section_of(citation), citation)
    return list(first.values())


def pictures_for(question: str, lead: Lead, citations: Sequence[Citation], nearness: Nearness) -> list[PassageImage]:
    """The pictures to show with a lead: those beside it, else the one of its section nearest to the question.

    Also one of another section that is nearer to the question than the lead: what is asked may stand on it only.

    Raises:
        ModelError: the files of the embedding model are damaged.
    """
    section = lead.citation
    pictures = [picture for citation in citations for picture in pictures_of(citation)][:_COMPARED_PICTURES]
    texts = [f"{picture.citation.section}: {picture.description}" for picture in pictures]
    scores = dict(zip([picture.url for picture in pictures], nearness.answering(question, texts), strict=True))
    by_score = sorted(pictures, key=lambda picture: -scores[picture.url])
    own = [picture for picture in by_score if picture.citation.number == section.number]
    shown = pictures_beside(section, lead.units, _REACH)[:_PICTURES] or own[:1]
    nearer = [picture for picture in by_score[:1] if scores[picture.url] > lead.score and picture not in shown]
    return [*shown, *nearer]
