"""References count 1, 2, 3 for a reader, in whatever order the searches found their passages."""

from app.grounding.citations import CitationBook, ReadingOrder
from app.grounding.stream import Grounder
from kb_pipeline_tests.app.grounding.hits import hit


def book_of(count: int) -> CitationBook:
    book = CitationBook()
    book.add([hit(f"c{number}", "guide", f"Passage {number}.") for number in range(1, count + 1)])
    return book


def test_references_are_numbered_as_a_reader_meets_them() -> None:
    book, order = book_of(4), ReadingOrder()
    grounder = Grounder(book, order)
    text = grounder.feed("First [Ref #3], then [Ref #1][Ref #3].\n\n`[Ref #2]` is code. Last [Ref") + grounder.feed(
        " #4]."
    )
    text += grounder.finish()
    assert text == "First [Ref #1], then [Ref #2][Ref #1].\n\n`[Ref #2]` is code. Last [Ref #3]."
    assert [(each.number, each.chunk_id) for each in order.of(book.citations)] == [
        (1, "c3"),
        (2, "c1"),
        (3, "c4"),
        (4, "c2"),
    ]
