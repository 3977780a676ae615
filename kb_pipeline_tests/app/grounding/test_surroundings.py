"""What is read around the found passages."""

from app.grounding.citations import CitationBook
from app.grounding.surroundings import Neighbour, around_with_pictures, neighbours
from kb_pipeline_tests.app.grounding.hits import in_section

ARTICLE = [in_section("guide", at) for at in range(6)]


def ids(chosen: list[Neighbour]) -> list[str]:
    return [neighbour.hit.chunk.id for neighbour in chosen]


def test_a_found_passage_is_read_with_the_next_and_the_one_before() -> None:
    after, before = neighbours([ARTICLE[3]], ARTICLE)
    assert (after.hit, after.follows, after.precedes) == (ARTICLE[4], "guide-3", None)
    assert (before.hit, before.follows, before.precedes) == (ARTICLE[2], None, "guide-3")


def test_what_was_found_is_no_neighbour_and_nothing_is_given_twice() -> None:
    (before, between, after) = sorted(neighbours([ARTICLE[3], ARTICLE[1]], ARTICLE), key=lambda n: n.hit.chunk.id)
    assert ids([before, between, after]) == ["guide-0", "guide-2", "guide-4"]
    assert (between.follows, between.precedes) == ("guide-1", "guide-3")
    assert neighbours(ARTICLE[:2], ARTICLE[:2]) == []


def test_another_section_or_article_is_not_beside_it() -> None:
    others = [in_section("guide", 4, section="Options"), in_section("manual", 2), in_section("guide", 1)]
    assert neighbours([ARTICLE[3]], others) == []


def test_the_best_passages_are_read_around_first_within_the_room_there_is() -> None:
    long = [in_section("guide", at, "x" * 100) for at in range(4)]
    other = [in_section("manual", at, "x" * 100) for at in range(3)]
    assert ids(neighbours([long[1], other[1]], [*other, *long], room=350)) == ["guide-2", "guide-0", "manual-2"]


def test_what_is_too_long_leaves_room_for_what_is_not() -> None:
    section = [in_section("guide", 0, "x"), in_section("guide", 1), in_section("guide", 2, "x" * 100)]
    assert ids(neighbours([section[1]], section, room=50)) == ["guide-0"]


def test_pictures_are_looked_for_beside_and_at_the_beginning_of_the_section() -> None:
    section = [in_section("guide", at, "Text.", *(["figure"] if at in (0, 2, 5) else [])) for at in range(6)]
    assert [hit.chunk.chunk_index for hit in around_with_pictures([section[4]], section)] == [0, 5]
    assert [hit.chunk.chunk_index for hit in around_with_pictures([section[3]], section)] == [2, 0]
    assert around_with_pictures([section[0], section[2], section[5]], section) == []


def test_a_book_says_beside_which_found_passages_a_passage_stands() -> None:
    book = CitationBook()
    book.add([ARTICLE[3], ARTICLE[1]])
    entered = book.add_neighbours(neighbours([ARTICLE[3], ARTICLE[1]], ARTICLE))
    assert [(c.number, c.chunk_id, c.follows, c.precedes) for c in entered] == [
        (3, "guide-4", 1, None), (4, "guide-2", 2, 1), (5, "guide-0", None, 2)
    ]  # fmt: skip
    assert book.add_neighbours(neighbours([ARTICLE[3]], ARTICLE)) == []


def test_a_neighbour_that_is_found_later_keeps_its_number_and_is_a_hit_from_then_on() -> None:
    book = CitationBook()
    book.add([ARTICLE[3]])
    book.add_neighbours(neighbours([ARTICLE[3]], ARTICLE))
    (found,) = book.add([ARTICLE[2]])
    assert (found.number, found.follows, found.precedes) == (3, None, None)
    assert [citation.number for citation in book.citations] == [1, 2, 3]
