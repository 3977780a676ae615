"""Whether a cited section still stands in its article."""

from app.conversations.sections import contradicted, is_as_cited, stale_reference
from app.grounding.citations import CitationBook
from app.schema.articles import Contradiction
from app.schema.conversations import StaleReference
from app.schema.passages import Citation
from kb_pipeline.records import Chunk, SearchHit

CROP = "## Crop\n\nChoose Crop, then press OK."
UNDO = "## Undo\n\nPress Ctrl+Z."


def chunk(content: str, at: int = 0, *, chunk_id: str = "", heading: str = "") -> Chunk:
    heading = heading or content.removeprefix("# Layers\n\n").partition("\n")[0].lstrip("# ")
    return Chunk(
        id=chunk_id or f"layers-{heading}",
        article_id="layers",
        chunk_index=at,
        title="Layers",
        section_header=heading,
        heading_path=("Layers", heading),
        content=content,
        content_hash=content,
    )


def cited(content: str = CROP, *, generation: str = "g1", chunk_id: str = "", heading: str = "") -> Citation:
    hit = SearchHit(chunk=chunk(content, chunk_id=chunk_id, heading=heading), score=1, generation=generation)
    return CitationBook().add([hit])[0]


def stale(citation: Citation, *chunks: Chunk) -> StaleReference | None:
    return stale_reference(citation, chunks, "g1")


def changes(reference: StaleReference | None) -> list[tuple[str, str]]:
    assert reference is not None
    assert reference.state == "changed"
    return [(piece.change, piece.text) for piece in reference.difference if piece.change in ("removed", "added")]


def test_a_section_that_was_not_touched_is_as_cited() -> None:
    assert is_as_cited(cited(), chunk(CROP, 7))
    assert not is_as_cited(cited(), chunk(CROP.replace("OK", "Apply")))
    assert not is_as_cited(cited(), None)


def test_a_section_that_was_rewritten_has_changed() -> None:
    reference = stale(cited(), chunk(CROP.replace("OK", "Apply")), chunk(UNDO, 1))
    assert changes(reference) == [("removed", "OK."), ("added", "Apply.")]


def test_a_sentence_that_was_added_to_a_section_changes_it() -> None:
    assert changes(stale(cited(), chunk(f"{CROP}\n\nNever crop twice."), chunk(UNDO, 1))) == [
        ("added", "Never crop twice.\n")
    ]


def test_a_section_that_moved_is_not_stale() -> None:
    assert stale(cited(chunk_id="old"), chunk(UNDO), chunk(CROP, 1, chunk_id="new", heading="Under another")) is None


def test_a_section_that_is_not_the_first_any_more_has_lost_no_heading_of_its_own() -> None:
    first = cited(f"# Layers\n\n{CROP}")
    assert stale(first, chunk(f"# Layers\n\n{UNDO}"), chunk(CROP, 1)) is None
    assert changes(stale(first, chunk(f"# Layers\n\n{UNDO}"), chunk(CROP.replace("OK", "Apply"), 1))) == [
        ("removed", "OK."),
        ("added", "Apply."),
    ]


def test_a_section_that_shares_its_chunk_with_others_now_is_not_stale() -> None:
    assert stale(cited(), chunk(f"{CROP}\n\n{UNDO}")) is None
    assert stale(cited(f"{CROP}\n\n{UNDO}"), chunk(CROP), chunk(UNDO, 1)) is None


def test_a_part_of_a_section_that_another_generation_cut_is_not_stale() -> None:
    part = cited("## Crop\n\nChoose Crop,\nthen press OK.", generation="g0")
    assert stale(part, chunk("## Crop\n\nChoose Crop,\nthen press OK.\nIt can be undone.")) is None


def test_without_a_generation_the_section_may_have_been_cut_by_another_one() -> None:
    assert stale(cited(generation=""), chunk(f"{CROP}\n\nNever crop twice.")) is None
    assert changes(stale(cited(generation=""), chunk(CROP.replace("OK", "Apply")))) == [
        ("removed", "OK."),
        ("added", "Apply."),
    ]


def test_a_part_is_compared_with_its_whole_section() -> None:
    first, second = "## Crop\n\nOne.\nTwo.", "Three.\nFour."
    now = chunk(first.replace("\nTwo.", "")), chunk(f"Two.\n{second}", 1, chunk_id="rest", heading="Crop")
    assert stale(cited(first), *now) is None
    now = chunk(first.replace("One", "First")), chunk(second, 1, chunk_id="rest", heading="Crop")
    assert changes(stale(cited(first), *now)) == [("removed", "One.\n"), ("added", "First.\n")]
    now = chunk(first), chunk(second.replace("Four", "4"), 1, chunk_id="rest", heading="Crop")
    assert changes(stale(cited(second, chunk_id="rest", heading="Crop"), *now)) == [
        ("removed", "Four.\n"),
        ("added", "4.\n"),
    ]


def test_a_section_under_another_heading_is_found_by_its_words() -> None:
    renamed = chunk(CROP.replace("## Crop", "## Crop a layer"), chunk_id="other")
    assert changes(stale(cited(), chunk(UNDO), renamed)) == [("removed", "Crop"), ("added", "Crop a layer")]


def test_without_headings_only_the_words_tell_what_stands_in_its_place() -> None:
    bare = chunk("Press Ctrl+Z.").model_copy(update={"heading_path": ()})
    without = cited("Choose Crop, then press OK.", chunk_id="old").model_copy(update={"heading_path": ()})
    assert stale(without, bare) == StaleReference(number=1, state="gone")


def test_a_section_that_nothing_resembles_is_gone() -> None:
    assert stale(cited(), chunk(UNDO)) == StaleReference(number=1, state="gone")
    assert stale(cited()) == StaleReference(number=1, state="gone")


def against(text: str, chunk_id: str = "layers-Crop") -> Contradiction:
    return Contradiction(
        kind="name",
        chunk_id=chunk_id,
        text=text,
        says="OK",
        other_article_id="dialogs",
        other_title="Dialogs",
        other_chunk_id="dialogs-0",
        other_text=text.replace("OK", "Apply"),
        other_says="Apply",
    )


def test_what_another_article_says_otherwise_contradicts_the_passage_that_says_it() -> None:
    found = against("Choose Crop, then press OK.")
    reference = contradicted(cited(), [found])
    assert reference == StaleReference(number=1, state="contradicted", contradictions=(found,))
    assert contradicted(cited(UNDO), [found]) is None


def test_of_a_passage_only_what_the_answer_used_can_be_contradicted() -> None:
    citation = cited("## Crop\n\nChoose Crop, then press OK. Save the `picture` now.")
    used = citation.model_copy(update={"quotes": ("Save the `picture` now.",)})
    assert contradicted(used, [against("Choose Crop, then press OK.")]) is None
    assert contradicted(used, [against("Save the picture now.")]) is not None
