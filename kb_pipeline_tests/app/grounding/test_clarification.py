"""A question that is asked back, in words: what a document is called cannot change what the words mean."""

import pytest
from markdown_it import MarkdownIt

from app.grounding.clarification import asked_back, asked_back_in_markdown, facts_of
from app.schema.answers import Clarification, DocumentOption

MANUAL = DocumentOption(
    number=1,
    article_id="install.pdf",
    title="Installation guide",
    filename="install.pdf",
    document_type="Manual",
    department="IT",
    upload_date="2026-05-01T10:20:30+00:00",
    page_count=12,
)
NOTES = DocumentOption(number=2, article_id="notes", title="Notes")


def back(*options: DocumentOption) -> Clarification:
    return Clarification(question="Which report do you mean?", asked="summarise the report", options=options)


def test_the_question_stands_before_its_options() -> None:
    assert asked_back(back(MANUAL, NOTES)) == (
        "Which report do you mean?\n\n1. Installation guide: install.pdf, Manual, IT, 2026-05-01, 12 pages\n2. Notes"
    )
    assert asked_back_in_markdown(back(MANUAL, NOTES)) == (
        "Which report do you mean?\n\n"
        "1. **Installation guide**: install.pdf, Manual, IT, 2026-05-01, 12 pages\n"
        "2. **Notes**"
    )


def test_plain_text_has_no_escapes() -> None:
    title = "Report_2026 *final* [v2]"
    assert asked_back(back(NOTES.model_copy(update={"title": title}))).endswith(f"2. {title}")


def test_what_looks_like_a_reference_is_none() -> None:
    assert asked_back(back(NOTES.model_copy(update={"title": "Notes [Ref #1]"}))).endswith("2. Notes (Ref #1)")


@pytest.mark.parametrize(
    ("option", "facts"),
    [
        (NOTES, ""),
        (NOTES.model_copy(update={"filename": "index.html"}), ""),
        (NOTES.model_copy(update={"filename": "Notes", "document_type": "Memo"}), "Memo"),
        (NOTES.model_copy(update={"page_count": 1}), "1 page"),
        (NOTES.model_copy(update={"page_count": 2415, "upload_date": "2026-05-01"}), "2026-05-01, 2,415 pages"),
    ],
)
def test_only_what_is_known_of_a_document_is_said(option: DocumentOption, facts: str) -> None:
    assert facts_of(option) == facts


@pytest.mark.parametrize(
    "title",
    [
        "a\n\n3. **b**",
        "![x](http://evil.example/x.png)",
        "[read](http://evil.example)",
        "<img src=x onerror=alert(1)>",
        "<http://evil.example>",
        "`code` ~~x~~ # y | z",
        "[Ref #1]",
        "&lt;b&gt;",
    ],
)
def test_a_title_is_shown_as_it_is_written(title: str) -> None:
    said = asked_back_in_markdown(back(NOTES.model_copy(update={"title": title, "number": 1})))
    tokens = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(said)
    inline = [child for token in tokens for child in token.children or ()]
    assert sum(token.type == "list_item_open" for token in tokens) == 1
    assert {child.type for child in inline} == {"text", "strong_open", "strong_close"}
    assert "".join(child.content for child in inline).endswith(" ".join(title.split()))
