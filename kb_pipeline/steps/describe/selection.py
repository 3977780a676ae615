"""Find selected entries of menus, lists and bars, and the selected tab: their background is another colour."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

from kb_pipeline.steps.describe.elements import is_action
from kb_pipeline.steps.describe.layout import Row, rows_of
from kb_pipeline.steps.describe.lines import OcrLine
from kb_pipeline.steps.describe.values import MENU_TITLES, is_data, is_shortcut

_SAME = 10
"""Difference of a colour channel (0-255) up to which two entries stand on the same colour."""

_CLEARLY = 0.3
"""How different a second entry may be, as a share: some screens shade their entries."""

_MIN_ENTRIES = 3
"""Entries of a list, bar or row of tabs, of which one can differ from the others."""
_MIN_SHORTCUTS = 2
"""Shortcuts such as "Ctrl+S" by which an open menu is told."""
_MIN_LETTERS = 3
"""Letters of an entry; with fewer it is an icon."""
_MAX_GAP = 3.5
_ALIGNED = 1.5
_TAB_GAP = 3.0
_BAR_MARGIN = 2.0
"""In line heights: distance between entries of a list, difference of their left edges, distance between tabs, space
right of the text in the bar of a selected entry."""


def selected_entry(items: Sequence[OcrLine]) -> OcrLine | None:
    """Return the one entry of a list, one below the other, that stands on another colour than all others."""
    lists = sorted(_lists(items), key=len, reverse=True)
    selected = (item for entries in lists if (item := _odd_one_out(entries)) and _is_bar(item, entries))
    return next((item for item in selected if not is_action(item.text)), None)


def selected_tab(items: Sequence[OcrLine]) -> OcrLine | None:
    """Return the one tab of a row that stands on another colour than all others."""
    return next((tab for tabs in tab_rows(items) if (tab := _odd_one_out(tabs))), None)


def open_menus(items: Sequence[OcrLine]) -> Row:
    """Return the selected title in the menu bar and the selected entries of the menus below, from left to right.

    Empty if there is no menu: no menu bar and no keyboard shortcuts.
    """
    runs = (run for row in rows_of(items) for run in _close(row))
    bars = [_named(run) for run in runs if sum(_menu_title(item.text) in MENU_TITLES for item in run) >= _MIN_ENTRIES]
    shortcuts = sum(is_shortcut(item.text) for item in items)
    if not bars and shortcuts < _MIN_SHORTCUTS:
        return ()
    titles = [title for bar in bars[:1] if (title := _odd_one_out(bar))]
    top = max((item.bottom for bar in bars[:1] for item in bar), default=0)
    names = [item for item in items if item.middle > top and _is_entry(item.text)]
    entries = [entry for menu in _lists(names) if (entry := _odd_one_out(menu)) and _is_wide(entry)]
    return (*titles, *sorted(entries, key=lambda entry: entry.left))


def _is_entry(text: str) -> bool:
    return not is_data(text) and sum(character.isalpha() for character in text) >= _MIN_LETTERS


def _named(bar: Row) -> Row:
    return tuple(item._replace(text=_menu_title(item.text)) for item in bar)


def _menu_title(text: str) -> str:
    """Return the title of a menu; an underlined first letter looks like another one ("Iools")."""
    return next((title for title in MENU_TITLES if title[1:] == text[1:]), text)


def tab_rows(items: Sequence[OcrLine]) -> list[Row]:
    """Return the rows of names close beside each other that are no buttons, labels or values."""
    rows = (run for row in rows_of(items) for run in _close(row))
    return [row for row in rows if len(row) >= _MIN_ENTRIES and all(_is_tab(item.text) for item in row)]


def _is_tab(text: str) -> bool:
    return not (is_action(text) or is_data(text) or text.endswith(":"))


def _close(row: Row) -> Iterable[Row]:
    start = 0
    for index, (left, right) in enumerate(pairwise(row), start=1):
        if right.left - left.right > _TAB_GAP * left.height or len(right.text.split()) > _MIN_ENTRIES:
            yield row[start:index]
            start = index
    yield row[start:]


def _lists(items: Sequence[OcrLine]) -> list[Row]:
    """Return the groups of aligned entries below each other."""
    lists: list[list[OcrLine]] = []
    for item in sorted(items, key=lambda item: item.top):
        above = next((entries for entries in lists if _continues(entries, item)), None)
        if above is None:
            lists.append([item])
        else:
            above.append(item)
    return [tuple(entries) for entries in lists if len(entries) > _MIN_ENTRIES]


def _continues(entries: Sequence[OcrLine], item: OcrLine) -> bool:
    last = entries[-1]
    below = 0 <= item.top - last.top <= _MAX_GAP * last.height + last.height and item.middle > last.bottom
    return below and any(
        min(abs(item.left - entry.left), abs(_centre(item) - _centre(entry))) <= _ALIGNED * item.height
        for entry in entries[-_MIN_ENTRIES:]
    )


def _centre(item: OcrLine) -> float:
    return (item.left + item.right) / 2


def _odd_one_out(entries: Row) -> OcrLine | None:
    """Return the entry whose background differs from the usual one far more than that of any other."""
    grounds = [entry.ground for entry in entries if entry.ground]
    if len(grounds) < len(entries):
        return None
    usual = [median(channel) for channel in zip(*grounds, strict=True)]
    distances = [max(abs(a - b) for a, b in zip(ground, usual, strict=True)) for ground in grounds]
    second, first = sorted(distances)[-2:]
    return entries[distances.index(first)] if first > _SAME and second <= first * _CLEARLY else None


def _is_bar(entry: OcrLine, entries: Row) -> bool:
    """Return whether the entry stands in a bar, and not in a field or on a button, and the others stand in nothing."""
    return _is_wide(entry) and not any(
        (item.frame and item is not entry) or item.text.endswith(":") for item in entries
    )


def _is_wide(entry: OcrLine) -> bool:
    return entry.frame is None or entry.frame.right - entry.right >= _BAR_MARGIN * entry.height
