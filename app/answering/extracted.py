"""An answer made of quotations: what answers best, with its pictures, and where else to look.

Here: the wording, which is ours only where it stands outside of the quotes. Not here: searching, what to quote.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from app.answering.base import NO_MATCHES
from app.grounding.asked import Asked
from app.grounding.blocks import Block, Section, section_of
from app.grounding.evidence import Evidence
from app.grounding.pictures import Picture, pictures_beside, pictures_of, telling_pictures
from app.grounding.quoting import inline, plain, quotation
from app.grounding.selection import Extract, Scored, alike, choose, choose_blocks, rank
from app.schema import Citation

MADE_OF_QUOTATIONS = "*Quoted from the articles word for word: no language model is configured to word an answer.*"
NOTHING = f"{NO_MATCHES} Nothing in the knowledge base answers this."
REWORD = f"{NO_MATCHES} No article says this in these words. Other words may find it; the closest sections are:"
CLOSEST = "No article says this in so many words. The closest:"
_PICTURES = 8
_REACH = 5
_LEADS = 2
_CLOSEST = 3
_LEAD = 160
_WORTH_A_LOOK = 0.5
_EMPHASIS = re.compile(r"(?<!\\)[*`]+")


@dataclass(frozen=True, slots=True)
class Found:
    """What a question found: its passages, how likely they answer it, and their blocks, best first.

    ``beside`` are passages around them whose pictures belong to the answer.
    """

    asked: Asked
    citations: tuple[Citation, ...]
    evidence: Evidence
    ranked: tuple[Scored, ...] = field(repr=False)
    beside: tuple[Citation, ...] = ()

    @classmethod
    def of(cls, asked: Asked, citations: Sequence[Citation], evidence: Evidence) -> "Found":
        """Rank the blocks of the passages, where they are any good."""
        good = evidence in ("strong", "weak")
        return cls(asked, tuple(citations), evidence, tuple(rank(asked, citations) if good else ()))

    @property
    def best(self) -> Block | None:
        """What answers best, if anything does."""
        return self.ranked[0].block if self.ranked else None


def procedure_wanted(found: Found) -> Citation | None:
    """The passage whose procedure answers best, if one does: its steps may be in other passages as well."""
    best = found.best
    if best is None or not (best.steps or (found.asked.how and _has_steps(best.section, found.ranked))):
        return None
    return best.citation


def _has_steps(section: tuple[str, tuple[str, ...]], ranked: Sequence[Scored]) -> bool:
    return any(found.block.steps for found in ranked if found.block.section == section)


def illustrating(found: Found, around: Sequence[Citation]) -> list[Citation]:
    """Of the passages around those found: which show what is asked for, or the figure of what will be quoted.

    The latter only of the section that was found first: figures of others are hardly ever about what is asked.
    """
    chosen = {picture.citation.number for picture, _ in telling_pictures(around, found.asked)}
    first = section_of(found.citations[0])
    if any(quoted.block.section == first for quoted in choose_blocks(found.ranked)):
        figures = (citation.number for citation in around if section_of(citation) == first and pictures_of(citation))
        chosen |= set(islice(figures, 1))
    return [citation for citation in around if citation.number in chosen]


def extracted_answer(found: Found, procedure: Sequence[Citation] = ()) -> Iterator[str]:
    """The answer in pieces of markdown, to be set apart by blank lines. ``procedure``: the one wanted, in full."""
    if not found.ranked:
        yield from _refusal(found)
        return
    extracts = choose(found.ranked, procedure)
    shown: list[Picture] = []
    if found.evidence == "weak":
        yield CLOSEST
    told = telling_pictures((*found.citations, *found.beside), found.asked)
    answering = [(picture, text) for picture, text in told if text and not found.asked.how]
    yield from _written_on_pictures(answering, shown)  # the value that is asked for is the label's on a screenshot
    steps = {citation.number for citation in procedure}
    for section, of_section in groupby(extracts, key=lambda extract: extract.block.section):
        yield from _of_section(list(of_section), steps, shown)
        yield from _figure(section, found.beside, shown)
    yield from _left_out(procedure, extracts)
    yield from _written_on_pictures((each for each in told if each not in answering), shown)
    yield from _see_also(found.ranked, extracts, shown)
    yield MADE_OF_QUOTATIONS


def _refusal(found: Found) -> Iterator[str]:
    """That nothing answers; or that nothing does in these words, and where it may be said in others."""
    if found.evidence == "none" or not found.citations:
        yield NOTHING
        return
    places = {section_of(citation): citation for citation in reversed(found.citations)}
    closest = [citation for citation in found.citations if places[section_of(citation)] is citation][:_CLOSEST]
    yield REWORD
    yield "\n".join(f"- {_place(citation)} {_reference(citation)}" for citation in closest)


def _figure(section: Section, beside: Sequence[Citation], shown: list[Picture]) -> Iterator[str]:
    """The figure of a quoted section, which stands beside what is quoted of it, where none of it is shown yet."""
    if any(section_of(picture.citation) == section for picture in shown) or len(shown) >= _PICTURES:
        return
    for picture in (picture for c in beside if section_of(c) == section for picture in pictures_of(c)[:1]):
        shown.append(picture)
        yield f"{picture.markdown} {_reference(picture.citation)}"
        return


def _of_section(extracts: Sequence[Extract], steps: Collection[int], shown: list[Picture]) -> Iterator[str]:
    yield f"From {_place(extracts[0].block.citation)}:"
    for number, of_passage in groupby(extracts, key=lambda extract: extract.block.citation.number):
        yield from _quoted(list(of_passage), shown, all_pictures=number in steps)


def _left_out(procedure: Sequence[Citation], extracts: Sequence[Extract]) -> Iterator[str]:
    """What is said of a procedure that is too long to be quoted whole."""
    quoted = {extract.block.citation.number for extract in extracts}
    missing = [citation for citation in procedure if citation.number not in quoted]
    if missing:
        yield f"The procedure has more steps: {_place(missing[0])} {''.join(map(_reference, missing[:_LEADS]))}"


def _quoted(extracts: Sequence[Extract], shown: list[Picture], *, all_pictures: bool) -> Iterator[str]:
    """What is quoted of one passage, with each picture right where it stands there."""
    citation = extracts[0].block.citation
    every = (unit for extract in extracts for unit in (*extract.block.terms, *extract.units))
    units = sorted(dict.fromkeys(every), key=lambda unit: unit.start)
    reach = 1 if shown else _REACH
    beside = pictures_of(citation) if all_pictures else pictures_beside(citation, units, reach)
    fresh = [picture for picture in beside if picture.url not in _urls(shown)][: _PICTURES - len(shown)]
    for picture in fresh:
        above = [unit for unit in units if unit.start < picture.at]
        if any(unit.kind != "term" for unit in above):
            yield quotation(above, _reference(citation))
            units = units[len(above) :]
        yield picture.markdown
    if units:
        yield quotation(units, _reference(citation))
    shown += fresh


def _written_on_pictures(told: Iterable[tuple[Picture, str]], shown: list[Picture]) -> Iterator[str]:
    """Pictures that much of the question is written on, and what else is written there."""
    for picture, text in told:
        if picture.url not in _urls(shown) and len(shown) < _PICTURES:
            shown.append(picture)
            yield f"From {_place(picture.citation)} {_reference(picture.citation)}:"
            yield picture.markdown
        if text and picture.url in _urls(shown):
            yield f"Written on the picture: {text} {_reference(picture.citation)}"


def _see_also(ranked: Sequence[Scored], extracts: Sequence[Extract], shown: Sequence[Picture]) -> Iterator[str]:
    """Leads to other sections that say part of it, each with the sentence that does."""
    said = [extract.block for extract in extracts]
    seen = {block.section for block in said} | {section_of(picture.citation) for picture in shown}
    leads: list[str] = []
    for found in ranked:
        if len(leads) == _LEADS or found.score < _WORTH_A_LOOK * ranked[0].score:
            break
        if found.block.section not in seen and not any(alike(found.block, block) for block in said):
            seen.add(found.block.section)
            said.append(found.block)
            leads.append(f"- {_place(found.block.citation)}{_lead(found)} {_reference(found.block.citation)}")
    if leads:
        yield "\n".join(("**See also**", "", *leads))


def _lead(found: Scored) -> str:
    """The best sentence of a block, cut short between words; without emphasis, which a cut could leave open."""
    best = found.block.units[found.best]
    if best.kind != "sentence":
        return ""
    text = _EMPHASIS.sub("", inline(best.text))
    return f": {text if len(text) <= _LEAD else text[:_LEAD].rsplit(' ', 1)[0] + ' …'}"


def _urls(pictures: Sequence[Picture]) -> set[str]:
    return {picture.url for picture in pictures}


def _place(citation: Citation) -> str:
    """Where a passage stands, for a reader."""
    names = dict.fromkeys((citation.title, citation.section))
    return f"*{' › '.join(plain(name) for name in names if name.strip())}*"


def _reference(citation: Citation) -> str:
    return f"[Ref #{citation.number}]"
