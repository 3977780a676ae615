"""Writes an answer made of quotations: what answers best, with its pictures, and where else to look.

Choosing what to quote is the task of :mod:`app.answering.extractive.selection`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from app.answering.extractive.blocks import PassageBlock, Section, is_lead_in, section_of
from app.answering.extractive.comparison import Side
from app.answering.extractive.guidance import Guidance, closest_sections
from app.answering.extractive.procedures import procedure_of
from app.answering.extractive.quoting import (
    Picture,
    asked_picture,
    inline,
    pictures_beside,
    pictures_of,
    pictures_of_screens,
    plain,
    quotation,
    relevant_pictures,
)
from app.answering.extractive.selection import Evidence, Extract, Scored, alike, choose, rank
from app.grounding.words import ParsedQuestion
from app.schema.answers import CLOSEST
from app.schema.passages import Citation

MADE_OF_QUOTATIONS = "*Quoted from the articles word for word: no language model is configured to word an answer.*"
QUOTED_INSTEAD = "*Quoted from the articles word for word: what the language model said is not in them.*"
NOTHING = "Nothing in the knowledge base answers this."
NOT_MENTIONED = "No article mentions"
CLOSEST_SECTIONS = "The closest sections are:"
CLOSEST_PAGES = "The closest pages are:"
REWORD = "No article says this in these words. Other words may find it; the closest sections are:"
NOTHING_ABOUT = "Nothing in the articles was found about"
_PICTURES = 8
_SCREENS = 2
_REACH = 5
_LEADS = 2
_LEAD = 160
_LEAD_ITEMS = 4
_WORTH_A_LOOK = 0.5
_EMPHASIS = re.compile(r"(?<!\\)[*`]+")


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The passages that a search returned, how likely they answer the question, and their blocks, best first.

    ``procedure`` are the blocks of the procedure that answers, if one does.
    """

    question: ParsedQuestion
    citations: tuple[Citation, ...]
    evidence: Evidence
    ranked: tuple[Scored, ...] = field(default=(), repr=False)
    procedure: tuple[PassageBlock, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, question: ParsedQuestion, citations: Sequence[Citation], evidence: Evidence) -> "SearchOutcome":
        """Rank the blocks of the passages if the passages may answer."""
        may_answer = evidence in ("strong", "weak")
        return cls(question, tuple(citations), evidence).led_by(rank(question, citations) if may_answer else ())

    def led_by(self, ranked: Sequence[Scored]) -> "SearchOutcome":
        """The same with these blocks, best first, and the procedure that the first one leads to."""
        procedure = procedure_of(self.question, ranked[0].block) if ranked else ()
        return replace(self, ranked=tuple(ranked), procedure=tuple(procedure))


def refusal(outcome: SearchOutcome, guidance: Guidance, names: Sequence[str] = ()) -> Iterator[str]:
    """Yield that nothing answers, and what helps, as pieces of markdown.

    The closest sections are named if they may answer in other words. ``names`` are those in the question that no
    article has.
    """
    unanswered = outcome.evidence == "none" or not outcome.citations or guidance.language_note
    if unanswered:
        yield NOTHING
    yield from hints(guidance)
    if not unanswered:
        listed = " or ".join(f"*{plain(name)}*" for name in names)
        yield f"{NOT_MENTIONED} {listed}. {CLOSEST_SECTIONS}" if names else REWORD
        closest = closest_sections(outcome.citations)
        yield "\n".join(f"- {_place(citation)} {_reference(citation)}" for citation in closest)


def hints(guidance: Guidance) -> Iterator[str]:
    """Yield the language to ask in, and the question in another spelling, where these may find more."""
    if guidance.language_note:
        yield guidance.language_note
    if guidance.did_you_mean:
        yield f"Did you mean: *{plain(guidance.did_you_mean)}*"


def is_compared(whole: SearchOutcome, sides: Sequence[Side]) -> bool:
    """Whether to quote these sides: one is enough if the whole question may have an answer, else it takes all.

    What nothing answers as a whole often shares a word with some passage, so each must then have a section of its own.
    """
    if whole.ranked:
        return any(side.extracts for side in sides)
    return bool(sides) and all(side.has_own_section for side in sides)


def compared_answer(whole: SearchOutcome, sides: Sequence[Side], remark: str = MADE_OF_QUOTATIONS) -> Iterator[str]:
    """Yield what is said about each thing that a question compares, as pieces of markdown like an answer's.

    ``whole`` is what the whole question found. A side that no article is about is named as such.
    """
    shown: list[Picture] = []
    if whole.evidence != "strong" and not all(side.has_own_section for side in sides):
        yield CLOSEST
    for side in sides:
        if not side.extracts:
            yield f"{NOTHING_ABOUT} *{plain(side.name)}*."
        for citation, group in groupby(side.extracts, key=lambda extract: extract.block.citation):
            yield f"About *{plain(side.name)}*, from {_place(citation)}:"
            yield from quotations(list(group), shown)
    if whole.ranked:
        yield from _see_also(whole.ranked, [extract for side in sides for extract in side.extracts], shown)
    yield remark


def extracted_answer(outcome: SearchOutcome, remark: str = MADE_OF_QUOTATIONS, closest: str = CLOSEST) -> Iterator[str]:
    """Yield the answer as pieces of markdown, to be separated by blank lines; only if the passages may answer.

    ``remark`` ends it, and says why it is made of quotations; ``closest`` begins it if they may answer in other words.
    """
    shown: list[Picture] = []
    if outcome.evidence == "weak":
        yield closest
    if picture := asked_picture(outcome.citations, outcome.question) if outcome.question.to_see else None:
        outcome = _led_by_passage(outcome, picture.citation)
        shown.append(picture)
        yield f"From {_place(picture.citation)}:"
        yield f"{picture.markdown} {_reference(picture.citation)}"
    best = outcome.ranked[0]
    extracts = choose(outcome.ranked, outcome.procedure)
    relevant = relevant_pictures(outcome.citations, outcome.question)
    # a label on a screenshot may give the value that was asked for, where no text says as much
    asks_for_value = outcome.question.which and not outcome.question.how and not outcome.question.to_see
    answering = [
        (picture, text) for picture, text in relevant if text and asks_for_value and picture.shows >= best.alone
    ]
    yield from _written_on_pictures(answering, shown)
    sections: list[Section] = []
    for citation, group in groupby(extracts, key=lambda extract: extract.block.citation):
        goes_on = section_of(citation) in sections[-1:]
        if sections or not shown or shown[-1].citation.number != citation.number:
            yield f"From {_place(citation)}{', continued' if goes_on else ''}:"
        yield from quotations(list(group), shown)
        sections.append(section_of(citation))
        if citation.number == outcome.citations[0].number:
            yield from _figure(citation, shown)
    yield from _left_out(outcome.procedure, extracts)
    quoted = {extract.block.citation.number for extract in extracts}
    others = ((picture, "") for picture, _ in relevant if picture.citation.number in quoted)
    yield from _written_on_pictures(others, shown)
    if outcome.question.on_screen:
        yield from _screens(pictures_of_screens(outcome.citations, outcome.question)[:_SCREENS], shown)
    yield from _see_also(outcome.ranked, extracts, shown)
    yield remark


def _led_by_passage(outcome: SearchOutcome, citation: Citation) -> SearchOutcome:
    """Return the same, led by the best block of a passage."""
    of_passage = [scored for scored in outcome.ranked if scored.block.citation.number == citation.number][:1]
    return outcome.led_by([*of_passage, *(scored for scored in outcome.ranked if scored not in of_passage)])


def pages_to_read(citations: Iterable[Citation]) -> Iterator[str]:
    """Yield a list of passages that do not answer, for who wants to read on."""
    yield "\n".join((CLOSEST_PAGES, "", *(f"- {_place(citation)} {_reference(citation)}" for citation in citations)))


def _screens(pictures: Iterable[Picture], shown: list[Picture]) -> Iterator[str]:
    """Yield the pictures of windows that are not shown yet, and where they are from."""
    for picture in pictures:
        if picture.url not in _urls(shown) and len(shown) < _PICTURES:
            shown.append(picture)
            yield f"From {_place(picture.citation)}:"
            yield f"{picture.markdown} {_reference(picture.citation)}"


def _figure(citation: Citation, shown: list[Picture]) -> Iterator[str]:
    """Yield the first picture of a quoted section, if none of its pictures is shown yet."""
    if not any(picture.citation.number == citation.number for picture in shown) and len(shown) < _PICTURES:
        for picture in pictures_of(citation)[:1]:
            shown.append(picture)
            yield f"{picture.markdown} {_reference(citation)}"


def _left_out(procedure: Sequence[PassageBlock], extracts: Sequence[Extract]) -> Iterator[str]:
    """Yield where the rest of a procedure is that is too long to be quoted whole."""
    quoted = {extract.block.place for extract in extracts}
    left_out = {block.citation.number: block.citation for block in procedure if block.place not in quoted}
    if left_out:
        references = " ".join(map(_reference, left_out.values()))
        yield f"The procedure has more steps: {_place(procedure[0].citation)} {references}"


def quotations(extracts: Sequence[Extract], shown: list[Picture]) -> Iterator[str]:
    """Yield the quotations from one passage, with each picture at its place."""
    citation = extracts[0].block.citation
    quoted = (unit for extract in extracts for unit in (*extract.block.terms, *extract.units))
    units = sorted(dict.fromkeys(quoted), key=lambda unit: unit.start)
    reach = 1 if shown else _REACH
    beside = pictures_beside(citation, units, reach)
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
    """Return the best sentence of a block, cut between words, without emphasis, which a cut could leave open.

    One that leads to a list goes on with the list's beginning; one that leads to anything else says nothing alone.
    """
    block, at = scored.block, scored.best
    leads_on = is_lead_in(block, at)
    units = block.units[at : at + 1 + _LEAD_ITEMS * leads_on]
    if any(unit.kind != "sentence" for unit in units) or (leads_on and len(units) == 1):
        return ""
    text = _EMPHASIS.sub("", " ".join(inline(unit.text) for unit in units))
    return f": {text if len(text) <= _LEAD else text[:_LEAD].rsplit(' ', 1)[0] + ' …'}"


def _urls(pictures: Sequence[Picture]) -> set[str]:
    return {picture.url for picture in pictures}


def _place(citation: Citation) -> str:
    """Return the names of article and section, for a reader; of a page of the web when it was fetched, too."""
    names = dict.fromkeys((citation.title, citation.section))
    place = f"*{' › '.join(plain(name) for name in names if name.strip())}*"
    return f"{place}, from the web, fetched {citation.fetched}" if citation.is_of_web else place


def _reference(citation: Citation) -> str:
    return f"[Ref #{citation.number}]"
