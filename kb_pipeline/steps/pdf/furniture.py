"""What stands on every page beside the text: running heads and feet, and page numbers.

A line is judged by its place over the whole document. A place in the upper or lower margin is furniture if most pages
have a line there and most of these lines repeat, count the pages, or name a section; or if it holds nothing but
page numbers. The first line of the text stands on one place as well, but does not repeat.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence

from kb_pipeline.steps.pdf.lines import Row
from kb_pipeline.steps.pdf.sheets import Sheet

MARGIN = 0.13
"""The share of the page's height, at the top and at the bottom, where furniture stands."""
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b", re.I)
_CONTINUED = re.compile(r"\(?(?:(?:table|code) )?continue[sd]? (?:on|from) (?:the )?(?:next|previous) page\)?\.*", re.I)
_PLACE = 4.0
_MOST_ROWS = 3


def furniture(sheets: Sequence[Sheet], titles: Collection[str]) -> dict[int, list[Row]]:
    """The rows that are furniture, by the page's number. ``titles`` are the outline's, by :func:`plain`."""
    places: dict[tuple[str, int], list[tuple[Sheet, Row]]] = defaultdict(list)
    for sheet in sheets:
        for edge, row in _candidates(sheet):
            distance = row[0].baseline if edge == "top" else sheet.height - row[0].baseline
            places[edge, round(distance / _PLACE)].append((sheet, row))
    found: dict[int, list[Row]] = defaultdict(list)
    judged = {place for place, entries in _wide_places(places) if _is_furniture(entries, len(sheets), titles)}
    for sheet in sheets:
        for edge in ("top", "bottom"):
            rows = [row for candidate, row in _candidates(sheet) if candidate == edge]
            for row in rows:
                distance = row[0].baseline if edge == "top" else sheet.height - row[0].baseline
                if (edge, round(distance / _PLACE)) not in judged:
                    break
                found[sheet.number].append(row)
    return found


def continuations(sheet: Sheet) -> list[Row]:
    """The lines at the edges of the text that only say that it goes on over the page."""
    edges = [*sheet.rows[:1], *sheet.rows[-1:]]
    return [row for row in edges if _CONTINUED.fullmatch(" ".join(piece.text for piece in row).strip())]


def plain(text: str) -> str:
    """Letters and digits in lower case, without the number of a chapter before them."""
    text = re.sub(
        r"^\W*(?:(?:chapter|appendix|section|part)\s+)?(?:[\dA-Z]{1,3}\.)*[\dA-Z]{0,3}[.:)]?\s+(?=\S)", "", text
    )
    return re.sub(r"[\W_]+", "", text).lower()


def _candidates(sheet: Sheet) -> Iterator[tuple[str, Row]]:
    """The rows in the margins, from the edge inwards."""
    top = [row for row in sheet.rows if row[0].baseline < MARGIN * sheet.height]
    bottom = [row for row in sheet.rows if row[0].baseline > (1 - MARGIN) * sheet.height]
    yield from (("top", row) for row in top[:_MOST_ROWS])
    yield from (("bottom", row) for row in reversed(bottom[-_MOST_ROWS:]) if row not in top)


def _wide_places(
    places: dict[tuple[str, int], list[tuple[Sheet, Row]]],
) -> Iterator[tuple[tuple[str, int], list[tuple[Sheet, Row]]]]:
    """Each place with what stands on the places right beside it: a line may lie on the border of two."""
    for edge, distance in places:
        entries = [entry for near in (-1, 0, 1) for entry in places.get((edge, distance + near), ())]
        yield (edge, distance), entries


def _is_furniture(entries: Sequence[tuple[Sheet, Row]], pages: int, titles: Collection[str]) -> bool:
    if pages < 2 or len(entries) < 2:
        return False
    texts = [" ".join(piece.text for piece in row) for _, row in entries]
    bare = [_NUMBER.sub("#", text).strip().lower() for text in texts]
    numbers_only = sum(not re.sub(r"[\W_]", "", text) for text in (text.replace("#", "") for text in bare))
    if numbers_only >= 0.9 * len(entries) and len(entries) >= 3 and _count_pages(entries) >= 0.7 * len(entries):
        return True
    if len(entries) < max(2, 0.25 * pages) and len(entries) < 40:
        return False
    times = Counter(bare)
    share = sum(
        times[text] >= max(2, min(4, 0.02 * pages)) or _names_section(row, titles) or _has_page_number(sheet, row)
        for (sheet, row), text in zip(entries, bare, strict=True)
    ) / len(entries)
    if len(entries) < 0.25 * pages:
        return share >= 0.95 and max(times.values()) >= 0.3 * len(entries)
    repeated = sum(count for count in times.values() if count >= 2)
    if pages < 6:
        return share >= 0.99 and (max(times.values()) >= 0.6 * pages or _count_pages(entries) >= 0.9 * len(entries))
    return share >= 0.7 and (repeated >= 0.4 * len(entries) or _count_pages(entries) >= 0.7 * len(entries))


def _names_section(row: Row, titles: Collection[str]) -> bool:
    """Whether a piece of the row is a title, or the beginning of one."""
    for piece in row:
        name = plain(piece.text)
        if name in titles or (len(name) > 7 and any(title.startswith(name) for title in titles)):
            return True
    return False


def _count_pages(entries: Sequence[tuple[Sheet, Row]]) -> int:
    """How many rows have a number that is the page's own, or runs along with the pages."""
    differences: Counter[int] = Counter()
    own = 0
    for sheet, row in entries:
        words = row[0].words[:1] + row[-1].words[-1:]
        numbers = {int(found) for word in words for found in re.findall(r"\d{1,5}", word.text)}
        if sheet.label and any(word.text.strip("-–—()[]. ").lower() == sheet.label.lower() for word in words):
            own += 1
        differences.update({number - sheet.number for number in numbers})
    return max(own, differences.most_common(1)[0][1] if differences else 0)


def _has_page_number(sheet: Sheet, row: Row) -> bool:
    ends = (row[0].words[0].text, row[-1].words[-1].text)
    return any(end.strip("-–—()[].") in (sheet.label or str(sheet.number), str(sheet.number)) for end in ends)
