"""Writes an answer made of quotations: what answers, with its picture; then, folded, the rest; then where else to look.

What is quoted first is chosen by :mod:`app.answering.extractive.choosing`.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

from app.answering.base import TextPart
from app.answering.extractive.blocks import PassageBlock, blocks_of, heading_of
from app.answering.extractive.choosing import Lead, Quotable
from app.answering.extractive.guidance import Guidance
from app.answering.extractive.quoting import PassageImage, pictures_beside, plain, quotation
from app.language.messages import Messages
from app.language.sentences import Unit
from app.schema.passages import Citation

_FOLDED, _FOLDED_OF_OTHERS = 4000, 2000
"""Characters of a passage of the section that answers, and of another section, that are quoted; of a longer one, the
blocks at the beginning, or the beginning of the first one."""
_LEADS = 2
"""Other sections that are named below an answer; more would be a list of hits."""
_PICTURES = 8
"""Pictures of an answer with its fold: a long procedure with a screenshot at most steps."""
_REACH = 1
"""Parts of a section between what is quoted in the fold and a picture that belongs to it: the next one."""


def refusal(guidance: Guidance, say: Messages) -> str:
    """The message that nothing answers, and in which language to ask instead if the articles are in another.

    The closest sections are not named: of 116 of them, in manuals that nothing was tuned on, none had an answer.
    """
    return "\n\n".join(filter(None, (say("nothing_answers"), guidance.language_note)))


def quoted_answer(found: Quotable, say: Messages, remark: str, closest: str = "") -> Iterator[TextPart]:
    """Yield the answer, piece by piece. ``closest`` begins it if it may not answer, and ``remark`` ends it."""
    shown: list[PassageImage] = []
    citation = found.lead.citation
    if closest:
        yield _piece(closest)
    yield _piece(say("from_place", place=_place(citation, say, found.lead.heading)))
    yield _piece(quotation(sorted(found.lead.units, key=lambda unit: unit.start), _reference(citation)))
    for picture in found.pictures:
        shown.append(picture)
        if picture.citation.number == citation.number:
            yield _piece(picture.markdown)
        else:
            yield _piece(f"{say('from_place', place=_place(picture.citation, say))} {_reference(picture.citation)}")
            yield _piece(picture.markdown)
    rest = [
        piece for blocks in _rest(found.section, found.lead) for piece in _quoted(blocks, _FOLDED, shown, found.lead)
    ]
    if rest:
        yield _piece(f"**{say('rest_of_section')}**", is_folded=True)
    for piece in rest:
        yield _piece(piece, is_folded=True)
    for other in found.more:
        pieces = list(_quoted(blocks_of(other), _FOLDED_OF_OTHERS, shown))
        for piece in (say("from_place", place=_place(other, say)), *pieces) if pieces else ():
            yield _piece(piece, is_folded=True)
    if others := [f"- {_place(each, say)} {_reference(each)}" for each in found.others[:_LEADS]]:
        yield _piece("\n".join((f"**{say('see_also')}**", "", *others)), is_folded=True)
    yield TextPart(f"*{remark}*", is_quoted=True)


def _goes_on(unit: Unit) -> bool:
    """Return whether a unit is within an item of a list: apart from that, it would lose its number."""
    return unit.depth > 1 or (unit.depth == 1 and not unit.label)


def pages_to_read(citations: Iterable[Citation], say: Messages) -> Iterator[str]:
    """Yield a list of passages that do not answer, for readers who want to read on."""
    yield "\n".join((say("closest_pages"), "", *(f"- {_place(each, say)} {_reference(each)}" for each in citations)))


def quotations(citation: Citation, units: Sequence[Unit], shown: list[PassageImage]) -> Iterator[str]:
    """Yield units of one passage as quotations, with each picture at its place that is not ``shown`` yet."""
    units = sorted(dict.fromkeys(units), key=lambda unit: unit.start)
    urls = {picture.url for picture in shown}
    beside = pictures_beside(citation, units, _REACH) if units else []
    new = [picture for picture in beside if picture.url not in urls][: max(0, _PICTURES - len(shown))]
    for picture in new:
        above = [unit for unit in units if unit.start < picture.at]
        while len(above) < len(units) and _goes_on(units[len(above)]):
            above.append(units[len(above)])
        if any(unit.kind != "term" for unit in above):
            yield quotation(above, _reference(citation))
            units = units[len(above) :]
        yield picture.markdown
    if units:
        yield quotation(units, _reference(citation))
    shown += new


def _piece(markdown: str, *, is_folded: bool = False) -> TextPart:
    return TextPart(f"{markdown}\n\n", is_quoted=True, is_folded=is_folded)


def _rest(section: Iterable[Citation], lead: Lead) -> Iterator[list[PassageBlock]]:
    """Yield the blocks of each passage of a section: from the heading of the answer on, and then what is before it."""
    blocks = [block for passage in section for block in blocks_of(passage)]
    start = next((at for at, block in enumerate(blocks) if _is_of(lead, block)), 0)
    while start and heading_of(blocks[start - 1]) == heading_of(blocks[start]):
        start -= 1
    for part in blocks[start:], blocks[:start]:
        for _, of_passage in groupby(part, key=lambda block: block.citation.number):
            yield list(of_passage)


def _is_of(lead: Lead, block: PassageBlock) -> bool:
    return block.citation.number == lead.citation.number and any(unit in lead.units for unit in block.units)


def _quoted(
    blocks: Sequence[PassageBlock], room: int, shown: list[PassageImage], lead: Lead | None = None
) -> Iterator[str]:
    """Yield blocks of one passage as quotations, with its pictures, without what the ``lead`` has quoted already.

    Of what is longer than ``room``, the beginning; only the first block is cut, as a table of hundreds of rows is one.
    """
    units, heading = list[Unit](), blocks[0].citation.section if blocks else ""
    for block in blocks:
        if units and sum(block.lengths) > room:
            break
        within = [unit for unit, end in zip(block.units, accumulate(block.lengths), strict=True) if end <= room]
        room -= sum(block.lengths)
        known = lead.units if lead and lead.citation.number == block.citation.number else ()
        new = [unit for unit in within if unit not in known or unit.kind == "header"]
        if any(unit.kind != "header" for unit in new):
            above = [block.heading] if block.heading and heading_of(block) != heading else []
            units += (*above, *block.terms, *new)
            heading = heading_of(block)
    if units:
        yield from quotations(blocks[0].citation, units, shown)


def _place(citation: Citation, say: Messages, heading: str = "") -> str:
    """Return the names of article and section, for a reader; of a page of the web when it was fetched, too."""
    section = heading or citation.section
    names = (citation.title,) if section in citation.title else (citation.title, section)
    place = f"*{' › '.join(plain(name) for name in names if name.strip())}*"
    return say("place_on_web", place=place, fetched=citation.fetched) if citation.is_of_web else place


def _reference(citation: Citation) -> str:
    return f"[Ref #{citation.number}]"
