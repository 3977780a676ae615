"""Parts of long documents: whole pages, whole blocks, nothing lost."""

from app.library.parts import PAGES_OF_A_PART, part_of
from kb_pipeline.records import PageBreak


def paged(*pages: str) -> tuple[str, list[PageBreak]]:
    text, breaks = "", []
    for number, page in enumerate(pages, 1):
        breaks.append(PageBreak(offset=len(text), page=number))
        text += page
    return text, breaks


def test_a_short_document_is_one_part() -> None:
    text, breaks = paged(*(f"Page {number}.\n\n" for number in range(1, PAGES_OF_A_PART + 1)))
    part = part_of(text, breaks, 7)

    assert (part.text, list(part.breaks), part.first_page, part.last_page) == (text, breaks, 1, PAGES_OF_A_PART)


def test_the_parts_of_a_long_document_are_all_of_it() -> None:
    text, breaks = paged(*(f"Page {number}.\n\n" for number in range(1, 2416)))
    parts = [part_of(text, breaks, page) for page in range(1, 2416, PAGES_OF_A_PART)]

    assert "".join(part.text for part in parts) == text
    assert parts[-1].last_page == 2415
    for part in parts:
        assert part.text.startswith(f"Page {part.first_page}.")
        assert [each.page for each in part.breaks] == [*range(part.first_page, part.last_page + 1)]
        assert all(part.text[each.offset :].startswith(f"Page {each.page}.") for each in part.breaks)


def test_a_part_begins_with_a_whole_block() -> None:
    before = [f"Page {number}.\n\n" for number in range(1, PAGES_OF_A_PART)]
    for block in (
        ["| a |\n| --- |\n| 1 |\n", "| 2 |\n\nEnd.\n"],
        ["```\none\n\n", "two\n```\n\nEnd.\n"],
        ["A paragraph that ", "goes on.\n\nEnd.\n"],
        ["- one\n\n  more\n", "- two\n\nEnd.\n"],
    ):
        text, breaks = paged(*before, *block)
        first, second = part_of(text, breaks, 1), part_of(text, breaks, PAGES_OF_A_PART + 1)
        assert first.text + second.text == text
        assert second.text == "".join(block)


def test_a_page_that_is_not_there_is_the_nearest() -> None:
    text, breaks = paged(*(f"Page {number}.\n\n" for number in range(1, 100)))

    assert part_of(text, breaks, 10**6).last_page == 99
    assert part_of(text, breaks, 1).first_page == 1
