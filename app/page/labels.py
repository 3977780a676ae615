"""Texts of widgets: foreign text that is shown literally, times and counts; and buttons of which one is chosen.

Streamlit interprets markdown, emoji, icons and arrows in labels, so foreign text must be escaped.
"""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import TypeVar

import streamlit as st

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_EMOJI_OR_ARROW = re.compile(r"(?<=[:<>-])(?=[\w+:<>-])")
_JOINER = "\u2060"  # zero-width: separates characters that Streamlit would combine
T = TypeVar("T", bound=str)
_LONGEST = 80
"""Characters of a label: a button of one line."""


def label(text: str, longest: int = _LONGEST) -> str:
    """The text on one line, escaped so that it is shown literally, and cut after ``longest`` characters."""
    line = " ".join(text.replace(_JOINER, "").split())
    if len(line) > longest:
        line = line[: longest - 1].rstrip() + "…"
    return _PUNCTUATION.sub(r"\\\1", _EMOJI_OR_ARROW.sub(_JOINER, line)) or "…"


def chosen(name: str, choices: Mapping[T, str], first: T, key: str) -> T:
    """Show buttons of which one is always chosen, first this one; ``choices`` are what may be chosen, in words."""
    choice: T = st.segmented_control(
        name,
        list(choices),
        default=first,
        required=True,
        format_func=choices.__getitem__,
        key=key,
        label_visibility="collapsed",
    )
    return choice


def moment(iso: str | None) -> str:
    """A time for readers: ``3 Mar 2026, 14:05 UTC``; "never" for none."""
    if not iso:
        return "never"
    try:
        at = datetime.fromisoformat(iso).astimezone(UTC)
    except ValueError:
        return iso
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def day(iso: str) -> str:
    """A date for readers: ``3 Mar 2026``, wherever they are."""
    try:
        on = date.fromisoformat(iso[:10])
    except ValueError:
        return iso
    return f"{on.day} {on:%b %Y}"


def age(iso: str, now: datetime | None = None) -> str:
    """The heading under which a list shows this time: Today, Yesterday, Last 7 days or Earlier."""
    try:
        days = ((now or datetime.now(UTC)).date() - datetime.fromisoformat(iso).astimezone(UTC).date()).days
    except ValueError:
        return "Earlier"
    if days <= 0:
        return "Today"
    return "Yesterday" if days == 1 else "Last 7 days" if days <= 7 else "Earlier"
