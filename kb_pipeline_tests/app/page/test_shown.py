"""Answers, sources, articles and hits as HTML: what a reader finds on them, and that words of others stay words."""

import pytest

from app.page.chat import answer_html
from app.page.knowledge_base import articles_html, hit_html, merged, score_table
from app.page.sections import CitedSection, cited_sections
from app.page.source import source_html, stale_html
from app.page.templates import render
from app.schema.articles import ArticleList, Contradiction
from app.schema.conversations import StaleReference
from app.schema.documents import DocumentDetails
from app.schema.passages import Citation
from app.schema.search import SearchResults
from kb_pipeline_tests.app.page.citing import IMAGE, answer, citation, result, summary

EVIL = '<img src=x onerror=alert(1)>"><script>alert(1)</script>'


def section(*citations: Citation, stale: tuple[StaleReference, ...] = ()) -> CitedSection:
    [made] = cited_sections(answer("", *citations), stale)
    return made


def changed(number: int, *pieces: tuple[str, str]) -> StaleReference:
    difference = [{"change": change, "text": text} for change, text in pieces]
    return StaleReference.model_validate({"number": number, "state": "changed", "difference": difference})


def contradicted(other: str = "Choose Crop to Image.") -> StaleReference:
    found = Contradiction(
        kind="name",
        chunk_id="layers-1",
        text="Choose Crop to Content.",
        says="Content",
        other_article_id="dialogs",
        other_title="Dialogs",
        other_chunk_id="dialogs-1",
        other_text=other,
        other_says="Image",
    )
    return StaleReference(number=1, state="contradicted", contradictions=(found,))


def test_an_answer_leads_to_its_sources_and_lists_those_it_uses() -> None:
    html = answer_html(answer("Crop it. [Ref #1]", citation(1), citation(2, used=False)), at=3)
    assert 'data-kb="source:3.1" data-preview="Layers › Crop a layer: “Choose Crop to Content.”"' in html
    assert 'class="kb-source" data-kb="source:3.1" data-words="[1] Layers › Crop a layer"' in html
    assert "source:3.2" not in html


def test_a_source_has_its_original_as_address_and_else_its_section_here() -> None:
    ours = citation(1)
    original = citation(2, section="Undo", heading_path=("Layers", "Undo"), source_url="https://example.com/a?b=1&c=2")
    harmful = citation(3, section="Redo", heading_path=("Layers", "Redo"), source_url="javascript:alert(1)")
    said = answer("A [Ref #1] b [Ref #2] c [Ref #3]", ours, original, harmful)
    html = answer_html(said, at=0, asked_at="2026-03-03T14:05:00+00:00")
    for address in (
        "knowledge-base?article=layers&amp;section=layers-1",
        "https://example.com/a?b=1&amp;c=2",
        "knowledge-base?article=layers&amp;section=layers-3",
    ):
        assert f'data-link="{address}"' in html and f'<a href="{address}">{address}</a>' in html
    assert "javascript" not in html
    assert "<b>Layers › Crop a layer</b>.\nAs it stood on 3 Mar 2026, 14:05 UTC." in html
    assert "kb-on-paper" not in answer_html(said, at=0)


def test_a_section_is_listed_once_however_often_it_is_cited() -> None:
    other = citation(3, section="Undo", heading_path=("Layers", "Undo"))
    html = answer_html(answer("A [Ref #1] b [Ref #2] c [Ref #3]", citation(1), citation(2), other), at=0)
    assert html.count('role="listitem"') == 2
    assert 'data-kb="source:0.1" data-words="[1] [2] Layers › Crop a layer"' in html
    assert 'data-kb="source:0.3" data-words="[3] Layers › Undo"' in html


def test_sources_that_have_changed_are_told_where_they_are_cited_and_where_they_are_listed() -> None:
    other = citation(2, section="Undo", heading_path=("Layers", "Undo"))
    stale = (changed(1), StaleReference(number=2, state="gone"))
    html = answer_html(answer("A [Ref #1] b [Ref #2]", citation(1), other), at=0, stale=stale)
    assert 'aria-label="Source 1: Layers › Crop a layer (changed since)"' in html
    assert 'data-words="[1] Layers › Crop a layer (changed since)"' in html
    assert 'data-words="[2] Layers › Undo (not available to you any more)"' in html
    assert "1 of 2 sources of this answer has changed since it was given." in html
    assert "1 of 2 sources of this answer is no longer available to you." in html
    assert "changed since" not in answer_html(answer("A [Ref #1]", citation(1)), at=0)


def test_of_a_section_that_has_changed_only_the_part_that_did_is_told_where_it_is_cited() -> None:
    html = answer_html(answer("A [Ref #1] b [Ref #2]", citation(1), citation(2)), at=0, stale=(changed(2),))
    assert 'aria-label="Source 1: Layers › Crop a layer"' in html
    assert 'aria-label="Source 2: Layers › Crop a layer (changed since)"' in html
    assert 'data-words="[1] [2] Layers › Crop a layer (changed since)"' in html


def test_a_source_that_has_changed_shows_how() -> None:
    html = stale_html(
        section(citation(), stale=(changed(1, ("removed", "OK"), ("added", "Apply"), ("skipped", "")),)), ""
    )
    assert "This section has changed since the answer" in html
    assert "<del>OK</del><ins>Apply</ins>" in html


def test_what_has_changed_is_shown_as_it_is_read() -> None:
    pieces = (("same", "## Crop\n"), ("removed", "**OK**"), ("added", "**Apply**"), ("same", " now.\n"))
    html = stale_html(section(citation(), stale=(changed(1, *pieces),)), "")
    assert 'aria-label="What has changed">Crop\n<del>OK</del><ins>Apply</ins> now.\n</div>' in html


def test_a_source_that_is_gone_says_so_and_shows_what_was_cited() -> None:
    gone = section(citation(), stale=(StaleReference(number=1, state="gone"),))
    assert "This section is not available to you any more" in stale_html(gone, "2026-03-03T14:05:00+00:00")
    assert "on 3 Mar 2026, 14:05 UTC" in stale_html(gone, "2026-03-03T14:05:00+00:00")


def test_an_answer_says_that_it_is_current_or_contradicted() -> None:
    said = answer("A [Ref #1]", citation(1))
    assert "Still current: its source has not changed since." in answer_html(said, at=0, standing="current")
    html = answer_html(said, at=0, stale=(contradicted(),), standing="contradicted")
    assert "Another article contradicts the source of this answer." in html
    assert "Layers › Crop a layer (contradicted by another article)" in html
    assert not any(told in html for told in ("Still current", "changed since"))
    assert "Still current" not in answer_html(said, at=0)


def test_a_source_that_is_contradicted_shows_both_statements_and_leads_to_the_other() -> None:
    html = stale_html(section(citation(), stale=(contradicted(EVIL),)), "")
    assert "Another article contradicts this section" in html
    assert "This section: “Choose Crop to Content.”" in html
    assert 'href="knowledge-base?article=dialogs&amp;section=dialogs-1"' in html
    assert "<script" not in html


def test_the_passages_of_a_section_stand_in_one_source_and_the_chosen_one_is_known() -> None:
    html = source_html(section(citation(1), citation(2, passage="Then save.", quotes=("Then save.",))), 2)
    assert html.count("<h2>Layers</h2>") == 1
    assert "<mark>Choose Crop to Content.</mark>" in html
    assert '<div class="kb-passage kb-chosen"><p><mark>Then save.</mark>' in html


def test_a_reference_to_nothing_leads_nowhere() -> None:
    assert "data-kb" not in answer_html(answer("Crop it. [Ref #7]"), at=0)


def test_an_answer_of_a_model_says_whose_it_is() -> None:
    html = answer_html(answer("Yes.", answered_by="agent", model="gpt", searches=("a", "b")), at=0)
    assert "Written by gpt from 2 searches" in html


def test_a_source_shows_where_it_stands_what_was_used_and_each_image_once() -> None:
    html = source_html(section(citation()), 1)
    assert "<h2>Layers</h2>" in html
    assert "<li>Crop a layer</li>" in html
    assert "<mark>Choose Crop to Content.</mark>" in html
    assert html.count(f'<img src="{IMAGE}"') == 1


def test_an_image_that_the_passage_does_not_show_is_shown_after_it() -> None:
    assert f'<img src="{IMAGE}"' in source_html(section(citation(passage="Text only.", quotes=())), 1)


@pytest.mark.parametrize(
    ("state", "word"), [("behind", "Outdated"), ("pinned", "Pinned"), ("failed", "Failed"), ("withheld", "Withheld")]
)
def test_the_list_says_what_readers_get_of_an_article(state: str, word: str) -> None:
    listed = summary(state=state, images=2, chunks=1, published_at="2026-03-03T14:05:00+00:00", error="it is a PDF")
    html = articles_html(ArticleList(total=1, articles=(listed,)))
    for shown in (word, "2 images · 3 Mar 2026, 14:05 UTC", "it is a PDF", "1 article"):
        assert shown in html
    assert ('href="knowledge-base?article=layers" data-kb="open"' in html) is (state != "withheld")


def test_the_list_says_nothing_of_the_state_of_an_article_that_readers_see_as_it_is() -> None:
    assert "kb-state" not in articles_html(ArticleList(total=1, articles=(summary(state="published"),)))


def test_the_list_says_of_a_document_what_its_id_and_its_publication_do_not() -> None:
    def listed(**facts: object) -> str:
        article = summary(article_id="press.pdf", published_at="2026-03-03T14:05:00+00:00", **facts)
        return articles_html(ArticleList(total=1, articles=(article,)))

    html = listed(filename="press.pdf", document_type="Manual", page_count=12, upload_date="2026-03-03")
    assert html.count("press.pdf") == 2  # the id, and the address
    came_in = '<span>came in <time datetime="2026-03-03">3 Mar 2026</time>'
    assert f"<span>Manual</span><span>12 pages</span>{came_in}" in html
    assert "image" not in html, "nobody asks how many pictures there are not"
    assert "came in" not in listed(filename="index.html", upload_date="2026-03-03")
    assert "came in" in listed(filename="index.html", upload_date="2026-03-02")


def test_a_source_says_where_a_document_comes_from_as_far_as_it_is_known() -> None:
    known = DocumentDetails(
        article_id="press", title="Press", filename="press.pdf", department="Works", upload_date="2026-03-02"
    )
    html = render("source", "facts", "press", None, "pdf", "run", None, None, "0123", "press.pdf", known)
    assert "<dt>Department</dt><dd>Works</dd>" in html
    assert '<dt>Came in</dt><dd><time datetime="2026-03-02">2 Mar 2026</time></dd>' in html
    assert "<dt>Type</dt>" not in html


def test_scores_of_all_searches_stand_side_by_side() -> None:
    found = {
        "hybrid": _results(result("a", 0.03, keyword_score=2.0), result("b", 0.02, vector_score=0.4)),
        "keyword": _results(result("a", 2.5), result("c", 1.0)),
        "vector": _results(result("b", 0.5)),
    }
    table = score_table(found)
    assert list(merged(found)) == ["a", "b", "c"]
    assert list(table["Section"]) == ["a", "b", "c"]
    assert table[["Hybrid", "Keyword", "Vector"]].fillna(-1).values.tolist() == [
        [0.03, 2.5, -1],
        [0.02, -1, 0.5],
        [-1, 1.0, -1],
    ]


def _results(*results: object) -> SearchResults:
    return SearchResults.model_validate({"query": "q", "mode": "hybrid", "results": results})


def test_words_of_others_stay_words() -> None:
    cited = citation(title=EVIL, section=EVIL, heading_path=(EVIL,), passage=EVIL, quotes=(EVIL,))
    shown = [
        answer_html(answer(f"{EVIL} [Ref #1]", cited), at=0),
        source_html(section(cited), 1),
        stale_html(section(cited, stale=(changed(1, ("removed", EVIL), ("added", EVIL), ("same", EVIL)),)), EVIL),
        articles_html(ArticleList(total=1, articles=(summary(title=EVIL, article_id=EVIL, error=EVIL),))),
        hit_html(1, result("x", 1.0, title=EVIL, heading_path=(EVIL,), passage=EVIL, article_id=EVIL)),
    ]
    for html in shown:
        assert "<script" not in html
        assert "<img src=x" not in html
        assert 'onerror=alert(1)>"' not in html
