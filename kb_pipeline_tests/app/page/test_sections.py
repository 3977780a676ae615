"""The sections that an answer cites, and where they stand in their articles."""

import pytest

from app.page.article import Cited, article_html
from app.page.sections import cited_sections, section_of, since_then, split_at_section
from app.schema.articles import Article, ArticleChunk
from app.schema.conversations import StaleReference
from kb_pipeline_tests.app.page.citing import answer, citation

INTRO = "# Layers\n\nLayers are sheets. Press OK."
CROP = "## Crop\n\nChoose Crop."
REST = "Then press OK."
UNDO = "## Undo\n\nPress Ctrl+Z."


def chunk(chunk_id: str, at: int, content: str, *headings: str) -> ArticleChunk:
    return ArticleChunk(chunk_id=chunk_id, chunk_index=at, heading_path=headings, content=content, content_hash="")


def article(*contents: str) -> Article:
    """An article of an introduction, a section in two chunks, and another section."""
    chunks = (
        chunk("intro", 0, INTRO, "Layers"),
        chunk("crop", 1, CROP, "Layers", "Crop"),
        chunk("rest", 2, REST, "Layers", "Crop"),
        chunk("undo", 3, UNDO, "Layers", "Undo"),
    )
    fields = {
        "source_url": None,
        "images": (),
        "published_at": None,
        "run_id": "",
        "run_url": None,
        "converter": "",
        "content_hash": "",
    }
    markdown = "\n\n".join(contents or (each.content for each in chunks))
    return Article.model_validate(
        {"article_id": "layers", "title": "Layers", "markdown": markdown, "chunks": chunks, **fields}
    )


def test_citations_of_one_section_are_one_source() -> None:
    other = citation(2, section="Undo", heading_path=("Layers", "Undo"))
    sections = cited_sections(answer("", citation(1), other, citation(3), citation(4, used=False)))
    assert [section.numbers for section in sections] == [(1, 3), (2,)]
    assert section_of(sections, 3) == sections[0]
    assert section_of(sections, 4) is None


@pytest.mark.parametrize(
    ("states", "told"),
    [
        ((None, None), ()),
        (("changed", None), ("1 of 2 sources of this answer has changed since it was given.",)),
        (("changed", "changed"), ("All 2 sources of this answer have changed since it was given.",)),
        (
            ("gone", "contradicted"),
            (
                "1 of 2 sources of this answer is no longer available to you.",
                "Another article contradicts 1 of 2 sources of this answer. Open the source to see what it says.",
            ),
        ),
        (("gone",), ("The source of this answer is no longer available to you.",)),
    ],
)
def test_what_became_of_the_sources_of_an_answer_is_told_in_sentences(
    states: tuple[str | None, ...], told: tuple[str, ...]
) -> None:
    cited = [citation(at, section=f"Part {at}", heading_path=(f"Part {at}",)) for at in range(1, len(states) + 1)]
    became = [{"number": at, "state": state} for at, state in enumerate(states, 1) if state]
    stale = [StaleReference.model_validate(each) for each in became]
    assert since_then(cited_sections(answer("", *cited), stale)) == told


@pytest.mark.parametrize(("filename", "path"), [("index.md", "Layers"), ("layers.md", "layers.md › Layers")])
def test_a_file_is_named_if_its_name_tells_anything(filename: str, path: str) -> None:
    [section] = cited_sections(answer("", citation(filename=filename, heading_path=("Layers",))))
    assert section.path == path


def test_sections_are_named_so_that_they_can_be_told_apart() -> None:
    def names(*paths: tuple[str, ...], article_ids: tuple[str, ...] = ("a", "a", "b")) -> list[str]:
        cited = [
            citation(number, article_id=article_id, title=path[0], section=path[-1], heading_path=path)
            for number, (path, article_id) in enumerate(zip(paths, article_ids, strict=False), 1)
        ]
        return [section.name for section in cited_sections(answer("", *cited))]

    assert names(("Layers", "Crop"), ("Layers", "Undo")) == ["Crop", "Undo"]
    assert names(("Layers", "Crop", "Steps"), ("Layers", "Undo", "Steps")) == ["Crop › Steps", "Undo › Steps"]
    assert names(("Layers",)) == [""]
    assert names(("Layers", "Crop"), ("Layers", "Crop"), article_ids=("a", "b")) == ["Crop · a", "Crop · b"]


def test_an_article_is_split_at_a_whole_section() -> None:
    for chunk_id in ("crop", "rest"):
        parts = split_at_section(article(), chunk_id)
        assert parts is not None
        assert [part.strip() for part in parts] == [INTRO, f"{CROP}\n\n{REST}", UNDO]


def test_the_first_and_the_last_section_reach_to_the_ends() -> None:
    assert [part.strip() for part in split_at_section(article(), "intro") or ()][:2] == ["", INTRO]
    assert [part.strip() for part in split_at_section(article(), "undo") or ()][1:] == [UNDO, ""]


def test_a_section_that_was_cut_anew_is_found_by_its_headings() -> None:
    assert split_at_section(article(), "other", ("Layers", "Undo")) == split_at_section(article(), "undo")
    assert split_at_section(article(), "other", ("Layers", "Trim")) is None
    assert split_at_section(article(), "other") is None


def test_of_headings_with_the_same_words_the_right_one_is_found() -> None:
    twice = article(INTRO, UNDO, CROP, REST, UNDO)
    chunks = (*twice.chunks[:1], chunk("first", 1, UNDO, "Layers", "Undo"), *twice.chunks[1:])
    parts = split_at_section(twice.model_copy(update={"chunks": chunks}), "undo")
    assert parts is not None
    assert (parts[0].count("## Undo"), parts[1].strip(), parts[2]) == (1, UNDO, "")


def test_only_the_cited_section_is_marked() -> None:
    html = article_html(article(), Cited("rest", ("Layers", "Crop"), ("Choose Crop.", "Then press OK.")))
    before, _, rest = html.partition('<section class="kb-cited"')
    section, _, after = rest.partition("</section>")
    assert "Layers are sheets." in before
    assert "<mark>Choose Crop.</mark>" in section
    assert "<mark>Then press OK.</mark>" in section
    assert "Press Ctrl+Z." in after
    assert "<mark>" not in before + after


def test_the_title_stands_only_above_the_text() -> None:
    assert "<h1>" not in article_html(article(), Cited("intro"))
    assert "<h1>" not in article_html(article(), Cited("undo"))


@pytest.mark.parametrize(
    ("cited", "note"),
    [
        (Cited("crop", (), ("Choose Trim.",)), "This section has changed since it was cited"),
        (Cited("gone", ("Layers", "Trim")), "The cited section is not here any more"),
    ],
)
def test_what_has_changed_since_it_was_cited_is_told(cited: Cited, note: str) -> None:
    html = article_html(article(), cited)
    assert note in html
    assert "Press Ctrl+Z." in html


def test_without_a_citation_the_article_is_whole() -> None:
    html = article_html(article())
    assert "kb-cited" not in html
    assert "Press Ctrl+Z." in html


@pytest.mark.parametrize(
    ("filename", "shown"), [("manual.pdf", "manual.pdf, p. iv"), ("Talk.PPTX", "Talk.PPTX, slide iv"), ("index.md", "")]
)
def test_a_source_names_the_file_and_the_page_or_slide(filename: str, shown: str) -> None:
    cited = citation(1, filename=filename, pages=(4, 5), page_labels=("iv", "v"), kind="document")
    (section,) = cited_sections(answer("", cited))
    assert section.file_and_page == shown


def test_a_source_in_a_workbook_names_the_sheet_and_the_rows() -> None:
    cited = citation(1, filename="prices.xlsx", pages=(4,), page_labels=("Pumps, rows 501-1000",), kind="document")
    (section,) = cited_sections(answer("", cited))
    assert section.file_and_page == "prices.xlsx, Pumps, rows 501-1000"
    assert cited.pages_in_words == "Pumps, rows 501-1000"
