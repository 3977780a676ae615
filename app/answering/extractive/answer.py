"""Writes an answer made of quotations: what answers best, with its pictures, and where else to look.

Choosing what to quote is the task of :mod:`app.answering.extractive.selection`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice

from app.answering.base import NO_MATCHES
from app.answering.extractive.blocks import PassageBlock, Section, section_of
from app.answering.extractive.quoting import (
    Picture,
    inline,
    pictures_beside,
    pictures_of,
    plain,
    quotation,
    relevant_pictures,
)
from app.answering.extractive.selection import Evidence, Extract, Scored, alike, choose, choose_blocks, rank
from app.grounding.words import ParsedQuestion
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
class SearchOutcome:
    """The passages that a search returned, how likely they answer the question, and their blocks, best first.

    ``beside`` are passages around them whose pictures belong to the answer.
    """

    question: ParsedQuestion
    citations: tuple[Citation, ...]
    evidence: Evidence
    ranked: tuple[Scored, ...] = field(repr=False)
    beside: tuple[Citation, ...] = ()

    @classmethod
    def of(cls, question: ParsedQuestion, citations: Sequence[Citation], evidence: Evidence) -> "SearchOutcome":
        """Rank the blocks of the passages if the passages may answer."""
        may_answer = evidence in ("strong", "weak")
        return cls(question, tuple(citations), evidence, tuple(rank(question, citations) if may_answer else ()))

    @property
    def best(self) -> PassageBlock | None:
        """The block that answers best, if any does."""
        return self.ranked[0].block if self.ranked else None


def find_procedure(outcome: SearchOutcome) -> Citation | None:
    """A passage of the procedure that answers best, if one does; other passages may contain more of its steps."""
    best = outcome.best
    if best is None:
        return None
    steps_near = any(scored.block.steps for scored in outcome.ranked if scored.block.section == best.section)
    return best.citation if best.steps or (outcome.question.how and steps_near) else None


def select_figures(outcome: SearchOutcome, around: Sequence[Citation]) -> list[Citation]:
    """The passages around the hits that show what the question asks for, or the figure of the section to be quoted.

    Only figures of the first hit's section count: those of other sections are hardly ever about the question.
    """
    chosen = {picture.citation.number for picture, _ in relevant_pictures(around, outcome.question)}
    first = section_of(outcome.citations[0])
    if any(scored.block.section == first for scored in choose_blocks(outcome.ranked)):
        figures = (citation.number for citation in around if section_of(citation) == first and pictures_of(citation))
        chosen |= set(islice(figures, 1))
    return [citation for citation in around if citation.number in chosen]


def extracted_answer(outcome: SearchOutcome, procedure: Sequence[Citation] = ()) -> Iterator[str]:
    """Yield the answer as pieces of markdown, to be separated by blank lines.

    ``procedure`` are all passages of the procedure that :func:`find_procedure` asks for.
    """
    if not outcome.ranked:
        yield from _refusal(outcome)
        return
    extracts = choose(outcome.ranked, procedure)
    shown: list[Picture] = []
    if outcome.evidence == "weak":
        yield CLOSEST
    relevant = relevant_pictures((*outcome.citations, *outcome.beside), outcome.question)
    answering = [(picture, text) for picture, text in relevant if text and not outcome.question.how]
    yield from _written_on_pictures(answering, shown)  # a label on a screenshot gives the value that was asked for
    steps = {citation.number for citation in procedure}
    for section, of_section in groupby(extracts, key=lambda extract: extract.block.section):
        group = list(of_section)
        yield f"From {_place(group[0].block.citation)}:"
        for number, of_passage in groupby(group, key=lambda extract: extract.block.citation.number):
            yield from _quoted(list(of_passage), shown, all_pictures=number in steps)
        yield from _figure(section, outcome.beside, shown)
    yield from _left_out(procedure, extracts)
    yield from _written_on_pictures((entry for entry in relevant if entry not in answering), shown)
    yield from _see_also(outcome.ranked, extracts, shown)
    yield MADE_OF_QUOTATIONS


def _refusal(outcome: SearchOutcome) -> Iterator[str]:
    """Yield that nothing answers, or the closest sections if these may answer in other words."""
    if outcome.evidence == "none" or not outcome.citations:
        yield NOTHING
        return
    places = {section_of(citation): citation for citation in reversed(outcome.citations)}
    closest = [citation for citation in outcome.citations if places[section_of(citation)] is citation][:_CLOSEST]
    yield REWORD
    yield "\n".join(f"- {_place(citation)} {_reference(citation)}" for citation in closest)


def _figure(section: Section, beside: Sequence[Citation], shown: list[Picture]) -> Iterator[str]:
    """Yield a figure from the passages beside a quoted section, if none of its pictures is shown yet."""
    if any(section_of(picture.citation) == section for picture in shown) or len(shown) >= _PICTURES:
        return
    for picture in (picture for c in beside if section_of(c) == section for picture in pictures_of(c)[:1]):
        shown.append(picture)
        yield f"{picture.markdown} {_reference(picture.citation)}"
        return


def _left_out(procedure: Sequence[Citation], extracts: Sequence[Extract]) -> Iterator[str]:
    """Yield where the rest of a procedure is that is too long to be quoted whole."""
    quoted = {extract.block.citation.number for extract in extracts}
    missing = [citation for citation in procedure if citation.number not in quoted]
    if missing:
        yield f"The procedure has more steps: {_place(missing[0])} {''.join(map(_reference, missing[:_LEADS]))}"


def _quoted(extracts: Sequence[Extract], shown: list[Picture], *, all_pictures: bool) -> Iterator[str]:
    """Yield the quotations from one passage, with each picture at its place."""
    citation = extracts[0].block.citation
    quoted = (unit for extract in extracts for unit in (*extract.block.terms, *extract.units))
    units = sorted(dict.fromkeys(quoted), key=lambda unit: unit.start)
    reach = 1 if shown else _REACH
    beside = pictures_of(citation) if all_pictures else pictures_beside(citation, units, reach)
    new = [picture for picture in beside if picture.url not in _urls(shown)][: _PICTURES - len(shown)]
    for picture in new:
        above = [unit for unit in units if unit.start < picture.at]
        if any(unit.kind != "term" for unit in above):
            yield quotation(above, _reference(citation))
            units = units[len(above) :]
        yield picture.markdown
    if units:
        yield quotation(units, _reference(citation))
    shown += new


def _written_on_pictures(relevant: Iterable[tuple[Picture, str]], shown: list[Picture]) -> Iterator[str]:
    """Yield pictures that much of the question is written on, and the matching text on them."""
    for picture, text in relevant:
        if picture.url not in _urls(shown) and len(shown) < _PICTURES:
            shown.append(picture)
            yield f"From {_place(picture.citation)} {_reference(picture.citation)}:"
            yield picture.markdown
        if text and picture.url in _urls(shown):
            yield f"Written on the picture: {text} {_reference(picture.citation)}"


def _see_also(ranked: Sequence[Scored], extracts: Sequence[Extract], shown: Sequence[Picture]) -> Iterator[str]:
    """Yield links to other sections that answer in part, each with the sentence that does."""
    blocks = [extract.block for extract in extracts]
    sections = {block.section for block in blocks} | {section_of(picture.citation) for picture in shown}
    leads: list[str] = []
    for scored in ranked:
        if len(leads) == _LEADS or scored.score < _WORTH_A_LOOK * ranked[0].score:
            break
        if scored.block.section not in sections and not any(alike(scored.block, block) for block in blocks):
            sections.add(scored.block.section)
            blocks.append(scored.block)
            leads.append(f"- {_place(scored.block.citation)}{_lead(scored)} {_reference(scored.block.citation)}")
    if leads:
        yield "\n".join(("**See also**", "", *leads))


def _lead(scored: Scored) -> str:
    """Return the best sentence of a block, cut between words, without emphasis, which a cut could leave open."""
    best = scored.block.units[scored.best]
    if best.kind != "sentence":
        return ""
    text = _EMPHASIS.sub("", inline(best.text))
    return f": {text if len(text) <= _LEAD else text[:_LEAD].rsplit(' ', 1)[0] + ' …'}"


def _urls(pictures: Sequence[Picture]) -> set[str]:
    return {picture.url for picture in pictures}


def _place(citation: Citation) -> str:
    """Return the names of article and section, for a reader."""
    names = dict.fromkeys((citation.title, citation.section))
    return f"*{' › '.join(plain(name) for name in names if name.strip())}*"


def _reference(citation: Citation) -> str:
    return f"[Ref #{citation.number}]"
