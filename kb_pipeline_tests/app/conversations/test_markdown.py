"""A conversation as a Markdown file: what a colleague who gets it can read, and trace."""

from app.conversations.markdown import markdown_of
from app.schema.answers import ChatAnswer
from app.schema.conversations import Conversation, Turn
from kb_pipeline_tests.app.page.citing import citation


def conversation(*turns: Turn, title: str = "Crop *this*") -> Conversation:
    return Conversation(
        id="c1",
        title=title,
        created_at="2026-03-04T10:00:00+00:00",
        updated_at="2026-03-05T10:00:00+00:00",
        turns=turns,
    )


def turn(answer: ChatAnswer | None, question: str = "How do I crop?", problem: str | None = None) -> Turn:
    return Turn(
        response_id="r1", asked_at="2026-03-04T10:00:00+00:00", question=question, answer=answer, problem=problem
    )


def answer(text: str, *citations: object) -> ChatAnswer:
    return ChatAnswer(answer=text, citations=citations, answered_by="extractive")  # type: ignore[arg-type]


def test_it_has_questions_answers_and_the_sources_that_are_referred_to() -> None:
    used = citation(
        1,
        title="Layers",
        heading_path=("Layers", "Crop"),
        source_url="https://example.com/layers",
        used=True,
        chunk_id="layers-1",
        article_id="layers",
    )
    said = answer("Choose *Crop* [Ref #1].\n\n`[Ref #1]`", used, citation(2, used=False))
    assert markdown_of(conversation(turn(said)), "http://kb/") == (
        "# Crop \\*this\\*\n\n*1 question, last continued on 2026-03-05*\n\n## How do I crop?\n\n"
        "Choose *Crop* [1].\n\n`[Ref #1]`\n\n**Sources**\n\n"
        "1. [Layers › Crop](<https://example.com/layers>)  \n"
        f"   `layers`, chunk `layers-1`, run `{used.origin.run_id}`, hash `{used.origin.content_hash[:12]}`\n"
    )


def test_images_are_named_by_the_address_of_the_service() -> None:
    said = answer("![the menu](/api/images/layers/images/menu.png)")
    text = markdown_of(conversation(turn(said)), "http://kb.example.com/")
    assert "![the menu](http://kb.example.com/api/images/layers/images/menu.png)" in text


def test_pages_of_documents_and_of_the_web_are_named() -> None:
    of_document = citation(1, title="Manual", heading_path=(), pages=(3, 4), page_labels=("iii", "iv"), used=True)
    of_web = citation(
        2,
        title="Hooks",
        heading_path=(),
        kind="web",
        source_url="https://x.org/h",
        fetched_at="2026-03-04T10:41:00+00:00",
        used=True,
    )
    text = markdown_of(conversation(turn(answer("A [Ref #1]. B [Ref #2].", of_document, of_web))), "http://kb/")
    assert "1. Manual, page iii, iv  \n" in text
    assert "2. [Hooks](<https://x.org/h>), on the web, read at 10:41 UTC on 2026-03-04" in text


def test_a_question_without_an_answer_says_why() -> None:
    text = markdown_of(conversation(turn(None, "Why <b>?", "it is not shown")), "http://kb/")
    assert text.endswith("## Why \\<b\\>?\n\n*it is not shown*\n")
