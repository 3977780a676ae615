"""What an author is told to mend."""

from app.page.for_authors import warnings_of
from app.schema.articles import ArticleChunk, Contradiction
from kb_pipeline_tests.app.page.test_sections import article

SHOWN = "> **[Image: crop](/api/images/layers/images/crop.png)**"


def test_a_picture_needs_a_text() -> None:
    def of(markdown: str) -> tuple[str, ...]:
        return warnings_of(article(markdown).model_copy(update={"chunks": ()}))

    assert of(f"# Layers\n\n{SHOWN}\n> The crop menu.\n\nMore.") == ()
    for text in ("", "> 1 2 3\n", ">\n"):
        [warning] = of(f"# Layers\n\n1. Press OK.\n\n   {SHOWN}\n   {text}\n\nMore.")
        assert warning.startswith("The picture crop has no text")


def test_a_section_that_is_cut_or_too_long_is_divided() -> None:
    def of(*chunks: tuple[str, int]) -> tuple[str, ...]:
        parts = [
            ArticleChunk(
                chunk_id=str(at),
                chunk_index=at,
                heading_path=("Layers", name),
                content="word " * words,
                content_hash="",
            )
            for at, (name, words) in enumerate(chunks)
        ]
        return warnings_of(article().model_copy(update={"chunks": tuple(parts)}))

    assert of(("Crop", 100), ("Undo", 1_500)) == ()
    [cut] = of(("Crop", 100), ("Crop", 100), ("Undo", 10))
    assert cut.startswith("The section Crop is cut into 2 parts.")
    [long] = of(("Crop", 1_600))
    assert long.startswith("The section Crop has 1,600 words.")


def test_what_another_article_contradicts_is_to_be_mended() -> None:
    found = Contradiction(
        kind="number",
        chunk_id="layers-1",
        text="Layers keep 5 steps.",
        says="5",
        other_article_id="undo",
        other_title="Undo",
        other_chunk_id="undo-1",
        other_text="Of layers, 9 steps are kept.",
        other_says="9",
    )
    [warning] = warnings_of(article().model_copy(update={"chunks": (), "contradictions": (found,)}))
    assert "“Layers keep 5 steps.” Undo (undo) says “Of layers, 9 steps are kept.”" in warning
