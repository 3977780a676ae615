"""What a person sees at a glance: the parts of a screen, its title, and what kind of screen it is."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median

from kb_pipeline.steps.describe.elements import is_action
from kb_pipeline.steps.describe.fields import fields_of, is_button
from kb_pipeline.steps.describe.layout import Row, rows_in_reading_order, rows_of, side_bars
from kb_pipeline.steps.describe.lines import SEPARATORS, OcrLine
from kb_pipeline.steps.describe.navigation import Path, valid_path
from kb_pipeline.steps.describe.selection import open_menus, selected_entry, selected_tab, tab_rows
from kb_pipeline.steps.describe.shown_path import breadcrumb_in, tree_path
from kb_pipeline.steps.describe.tables import ScreenTable, tables_of
from kb_pipeline.steps.describe.values import MENU_TITLES, is_data, is_sentence, is_shortcut, people

_TOP = 0.2
_UPPER_HALF = 0.5
_BOTTOM = 0.75
"""Parts of the image's height where titles, the titles of pages, and the buttons of dialogs are."""

_APART = 4.0
"""Distance of a title from what stands beside it, in line heights."""

_LARGE = 1.15
"""Height of a page's title, as a multiple of the median height of text."""

_SAME_PITCH = 1.3
"""How evenly the entries of a list stand: one distance to another."""
_MAX_TITLE = 80
"""Characters of a title."""
_MIN_BUTTONS = 2
"""Buttons of a dialog: OK and Cancel."""
_MIN_MENUS = 3
"""Menus of a window: File, Edit and one more."""
_MIN_ENTRIES = 3
"""Entries of a list; two are a label and its value."""
_MIN_FIELDS = 2
"""Fields of a form; one is a search box."""
_TOOLBAR = 5.0
"""Maximum height of a toolbar, in line heights."""

_SHARE_OF_TABLE, _SHARE_OF_TEXT, _SHARE_OF_CODE, _SHARE_OF_MENU = 0.6, 0.6, 0.4, 0.7
"""Shares of the texts, or of their letters, from which a screen is of this kind as a whole."""
_SPARSE = 0.04
"""Share of a picture's area that is text, up to which the text is its caption or labels."""

LISTS = frozenset({"menu", "list"})
"""Kinds of screens that are one list of entries, with icons beside them."""

_CODE = re.compile(r"[{};]|</?\w|/>|==|^\s*[$#] |\w\(|^<|=[\"']")
_SETTINGS = frozenset({"settings", "preferences", "options", "configuration", "administration", "setup", "properties"})


@dataclass(frozen=True)
class Screen:
    """The readable texts of an image of ``width`` x ``height`` pixels, and what they are parts of."""

    items: tuple[OcrLine, ...]
    width: int
    height: int

    @cached_property
    def texts(self) -> tuple[OcrLine, ...]:
        """All texts but the separators of breadcrumbs."""
        return tuple(item for item in self.items if item.text not in SEPARATORS)

    @cached_property
    def rows(self) -> list[Row]:
        """The texts in the order in which a person reads them."""
        ordered = rows_in_reading_order(self.items)
        return [texts for row in ordered if (texts := tuple(item for item in row if item.text not in SEPARATORS))]

    @cached_property
    def bars(self) -> list[list[OcrLine]]:
        """The bars at the left side of a page, from the outermost."""
        return side_bars(self.texts)[0]

    @cached_property
    def tables(self) -> list[ScreenTable]:
        return tables_of(self.texts)

    @cached_property
    def table_texts(self) -> frozenset[OcrLine]:
        """The contents of all tables, without their headings."""
        return frozenset(item for table in self.tables for item in table.body)

    @cached_property
    def people(self) -> frozenset[OcrLine]:
        names = people(self.texts)
        return frozenset(item for item in self.texts if item.text in names)

    @cached_property
    def breadcrumb(self) -> tuple[Path, tuple[OcrLine, ...]]:
        """The breadcrumb, and the texts that it consists of."""
        breadcrumbs = (breadcrumb_in(row, self._largest) for row in rows_of(self.items))
        return next((each for each in breadcrumbs if each[0]), ((), ()))

    @cached_property
    def _largest(self) -> OcrLine | None:
        """The text in the upper half that is larger than the others, as the titles of pages are."""
        usual = median(item.height for item in self.texts)
        parts = self.table_texts.union(*(table.headings for table in self.tables))
        candidates = [
            item
            for item in self.texts
            if item.middle <= _UPPER_HALF * self.height
            and _is_title(item)
            and item.height >= _LARGE * usual
            and item not in parts
        ]
        return max(candidates, key=lambda item: (item.height, -item.top), default=None)

    @cached_property
    def title(self) -> str:
        """The title of the window, dialog or page; empty if it has none."""
        path = self.breadcrumb[0]
        if path and not is_data(path[-1]):
            return path[-1]
        largest = self._largest.text if self._largest else ""
        if path:
            return largest
        first = [item for item in rows_of(self.texts)[0] if not is_data(item.text)]
        if len(self.texts) == 1 or not first or not self._is_top_title(first):
            above = [item for row in rows_of(self.texts)[:2] for item in row]
            return largest if len(self.bars) > 1 or self._largest in above else ""
        return first[0].text

    def _is_top_title(self, row: Sequence[OcrLine]) -> bool:
        """Return whether the first text of a row is a title: alone, or apart from buttons at the other side."""
        title, *others = row
        apart = all(other.left - title.right >= _APART * title.height or is_action(other.text) for other in others)
        is_part = any(title in table.headings for table in self.tables) or title in self.fields
        is_tab = any(title in tabs for tabs in tab_rows(self.texts))
        is_entry = not self.fields and self._is_first_entry(title)
        at_top = title.middle <= _TOP * self.height
        return apart and at_top and _is_title(title) and not (is_entry or is_part or is_tab)

    def _is_first_entry(self, title: OcrLine) -> bool:
        """Return whether the text is in line with the ones below it, and as far from the next as these are."""
        rows = rows_of(self.texts)[: _MIN_ENTRIES + 1]
        pitches = [below[0].middle - above[0].middle for above, below in pairwise(rows)]
        in_line = all(len(row) == 1 and abs(row[0].left - title.left) <= title.height for row in rows)
        return in_line and len(pitches) == _MIN_ENTRIES and max(pitches) <= _SAME_PITCH * min(pitches)

    @cached_property
    def selected(self) -> OcrLine | None:
        """The selected entry of the innermost side bar, or of the list or menu that is the whole screen."""
        named = ([item for item in bar if not is_data(item.text)] for bar in reversed(self.bars))
        in_bars = (selected_entry(bar) for bar in named)
        in_page = [item for item in self._page if self.kind in LISTS and not is_data(item.text)]
        return next((entry for entry in in_bars if entry), None) or selected_entry(in_page)

    @cached_property
    def menus(self) -> Row:
        """What is selected in the menu bar and in open menus."""
        return open_menus(self._page)

    @cached_property
    def tab(self) -> OcrLine | None:
        return selected_tab(self._page)

    @cached_property
    def fields(self) -> dict[OcrLine, OcrLine]:
        """The labels of fields, and what is filled in."""
        return fields_of(self._page)

    @cached_property
    def _page(self) -> list[OcrLine]:
        """The texts beside the side bars and outside of tables, in reading order."""
        others = {item for table in self.tables for item in table.headings}.union(self.breadcrumb[1], *self.bars)
        return [item for row in self.rows for item in row if item not in self.table_texts and item not in others]

    @cached_property
    def path(self) -> Path:
        """The way to this screen as far as it shows one."""
        if self.breadcrumb[0]:
            return self.breadcrumb[0]
        menus = valid_path([item.text.strip(" .…") for item in self.menus])
        if menus:
            return menus
        title = (self.title,) if self.title else ()
        is_list = self.bars or self.kind in LISTS
        if self.selected is not None and is_list and self.selected.text != self.title:
            entries = next((bar for bar in self.bars if self.selected in bar), self.texts)
            return tree_path(self.selected, entries) or valid_path([*title, self.selected.text])
        if self.tab is not None and title and self.tab.text != self.title:
            return valid_path([*title, self.tab.text])
        return ()

    @cached_property
    def kind(self) -> str:
        """What kind of screen this is, as a noun in lower case."""
        texts = [item.text for item in self.texts]
        rows = rows_of(self.texts)
        buttons = [item for row in rows[-2:] for item in row if item.middle >= _BOTTOM * self.height]
        menus = [item for row in rows[:3] for item in row if item.text in MENU_TITLES]
        lines = median(item.height for item in self.texts)
        if self.breadcrumb[0] or len(self.bars) > 1:
            is_settings = not _SETTINGS.isdisjoint(name.casefold() for name in (*self.breadcrumb[0], self.title))
            return "settings page" if is_settings else "page"
        actions = sum(is_action(item.text) for item in buttons)
        if (actions and sum(is_action(item.text) or is_button(item) for item in buttons) >= _MIN_BUTTONS) or (
            self.title and _is_message(texts)
        ):
            return "dialog"
        if len(menus) >= _MIN_MENUS:
            return "window"
        if sum(len(item.text) for item in self.texts if _CODE.search(item.text)) >= _SHARE_OF_CODE * _length(texts):
            return "code"
        if len(self.table_texts) >= _SHARE_OF_TABLE * len(texts):
            return "table"
        if self.height <= _TOOLBAR * lines and len(texts) >= _MIN_ENTRIES:
            return "toolbar"
        if sum(len(text) for text in texts if is_sentence(text)) >= _SHARE_OF_TEXT * _length(texts):
            return "page of text"
        covered = sum((item.right - item.left) * item.height for item in self.texts) / (self.width * self.height)
        if not self.fields and (covered <= _SPARSE or len(texts) < _MIN_ENTRIES):
            return "picture"
        if len(self.fields) < _MIN_FIELDS and self._is_list(rows):
            return "menu" if any(is_shortcut(text) for text in texts) or not self.title else "list"
        return "panel"

    def _is_list(self, rows: Sequence[Row]) -> bool:
        """Return whether most rows are entries: one short name each, perhaps with a shortcut."""
        entries = [row for row in rows if len([item for item in row if not is_data(item.text)]) == 1]
        return len(entries) >= max(_MIN_ENTRIES, _SHARE_OF_MENU * len(rows)) and not any(
            is_sentence(row[0].text) or row[0].text.endswith(":") for row in entries
        )


def _is_title(item: OcrLine) -> bool:
    text = item.text
    return (
        sum(character.isalpha() for character in text) > 2
        and len(text) <= _MAX_TITLE
        and not is_data(text)
        and not text.endswith((":", ".", ","))
        and not _CODE.search(text)
        and text not in MENU_TITLES
    )


def _is_message(texts: Sequence[str]) -> bool:
    """Return whether there is nothing but a message and its button."""
    return len(texts) <= 6 and any(text in {"OK", "Close", "Yes"} for text in texts)


def _length(texts: Sequence[str]) -> int:
    return sum(len(text) for text in texts)
