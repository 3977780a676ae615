"""What a reader is asked back, in words: the question and its numbered options. Pure.

Titles and file names are authors' text. As plain text they stand as they are; where markdown is written they are
escaped. Whoever shows the options in another way, as buttons or in a terminal, describes them by the same facts.
"""

import re
from collections.abc import Iterable

from app.schema.answers import Clarification, DocumentOption
from kb_pipeline.wording import counted

_SPECIAL = re.compile(r"[\\`*_\[\]<>#|~$!&]")
_LIKE_A_REFERENCE = re.compile(r"\[(Ref #\d+)\]")
_MINUTES_AND_SECONDS = re.compile(r"T.*\Z")


def asked_back(clarification: Clarification) -> str:
    """The question and its options as plain text, one line for each option; none of its words is a reference."""
    options = (": ".join(filter(None, (_line(option.title), facts_of(option)))) for option in clarification.options)
    return _LIKE_A_REFERENCE.sub(r"(\1)", _listed(clarification, options))


def asked_back_in_markdown(clarification: Clarification) -> str:
    """The question and its options as markdown, in which a title cannot change what the words mean."""
    return _listed(clarification, map(_described, clarification.options))


def _listed(clarification: Clarification, options: Iterable[str]) -> str:
    lines = (f"{option.number}. {said}" for option, said in zip(clarification.options, options, strict=True))
    return "\n".join((clarification.question, "", *lines))


def facts_of(option: DocumentOption) -> str:
    """What is known of a document besides its title: ``manual.pdf, Manual, 2026-05-01, 12 pages``."""
    pages = counted(option.page_count, "page") if option.page_count else ""
    day = _MINUTES_AND_SECONDS.sub("", option.upload_date)
    says_more = not option.filename.startswith("index.") and option.filename != option.title
    filename = option.filename if says_more else ""
    facts = (filename, option.document_type, option.department, day, pages)
    return ", ".join(_line(fact) for fact in facts if fact)


def _described(option: DocumentOption) -> str:
    facts = facts_of(option)
    title = f"**{_escaped(option.title)}**"
    return f"{title}: {_escaped(facts)}" if facts else title


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", _line(text))


def _line(text: str) -> str:
    return " ".join(text.split())
