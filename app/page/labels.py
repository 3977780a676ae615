"""Text of others in the labels of Streamlit's widgets, which read markdown, emoji, icons and arrows into them."""

import re
from datetime import UTC, datetime

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_READ_INTO = re.compile(r"(?<=[:<>-])(?=[\w+:<>-])")
_JOINER = "\u2060"  # has no width, but parts what would be read as one sign
_LONGEST = 80


def label(text: str, longest: int = _LONGEST) -> str:
    """The text on one line, shown as it is written."""
    line = " ".join(text.replace(_JOINER, "").split())
    if len(line) > longest:
        line = line[: longest - 1].rstrip() + "…"
    return _PUNCTUATION.sub(r"\\\1", _READ_INTO.sub(_JOINER, line)) or "…"


def moment(iso: str | None) -> str:
    """A time as people write it: ``3 Mar 2026, 14:05 UTC``."""
    if not iso:
        return "never"
    try:
        at = datetime.fromisoformat(iso).astimezone(UTC)
    except ValueError:
        return iso
    return f"{at.day} {at:%b %Y, %H:%M} UTC"


def age(iso: str, now: datetime | None = None) -> str:
    """The heading of a list under which something of that time stands."""
    try:
        days = ((now or datetime.now(UTC)).date() - datetime.fromisoformat(iso).astimezone(UTC).date()).days
    except ValueError:
        return "Earlier"
    if days <= 0:
        return "Today"
    return "Yesterday" if days == 1 else "Last 7 days" if days <= 7 else "Earlier"


def count(number: int, thing: str) -> str:
    """``1 image``, ``2 images``, ``1,200 images``."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
