"""Summaries say what a document is about in its own sentences, with their pages."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.records import DocumentSummary, Quoted
from kb_pipeline.steps.checks import summary_is_quoted
from kb_pipeline.steps.pages import page_mark
from kb_pipeline.steps.summary import LONGEST_BRIEF, LONGEST_STANDARD, first_headings, readable_text, summarise

MANUAL = f"""
{page_mark(1, "cover")}

# Press 2000

© 2024 Press Works. All rights reserved.

{page_mark(2)}

## Introduction

The Press 2000 prints posters on paper of up to two metres. It is made for **print shops** that change paper
{page_mark(3)} often. This manual explains how operators set up the press, print, and clean it.

![the press](x.png) [[IMG:press.png]]

## Cleaning

{page_mark(4)}

- Switch the press off before you open the cover of the rollers.
- Wipe the rollers with a dry cloth, e.g. the one in the box.

```
# clean --all. Do not quote this line of code.
```

| Part | Interval |
|---|---|
| Roller | Every week, as this table says in a sentence. |

## Getting help

Dr. Ink answers questions about the press at the help desk on weekdays.
"""


def quoted(summary: DocumentSummary) -> list[Quoted]:
    return [*summary.brief, *(sentence for paragraph in summary.standard for sentence in paragraph)]


def test_the_brief_summary_says_what_the_document_is_about_where_it_says_so() -> None:
    brief = summarise(MANUAL, "Press 2000").brief
    assert Quoted(text="The Press 2000 prints posters on paper of up to two metres.", page=2) in brief
    assert Quoted(text="This manual explains how operators set up the press, print, and clean it.", page=3) in brief


DETAILS = """

Select the jobs with the same number in the jobs window, then open the window of the bills with the next number.

The jobs window sorts bills and jobs by number, vendor and date, and the number of a bill can be changed there.

The window remembers the number, vendor and date of the selected bill and shows the number of jobs in its title.

Every bill of a vendor has a number, a date and a job, which the window shows in columns that a click sorts."""


@pytest.mark.parametrize(
    ("title", "subject"),
    [
        ("Grouping", "Grouping of bills is possible here."),
        ("Importing", "This assistant imports bills of vendors."),
        ("Concepts", "Now that it runs, this chapter will show you how bills are grouped."),
    ],
)
def test_what_says_what_the_document_is_about_comes_first_though_details_repeat_more(title: str, subject: str) -> None:
    assert summarise(f"{subject}{DETAILS}", title).brief[0].text == subject


def test_what_leads_elsewhere_does_not_say_what_the_document_is_about() -> None:
    brief = summarise(f"The following lists vendor jobs:{DETAILS}", "Vendor Jobs").brief
    assert "The following lists vendor jobs:" not in [sentence.text for sentence in brief]


def test_every_sentence_stands_in_the_document_and_the_lengths_are_kept() -> None:
    summary = summarise(MANUAL, "Press 2000")
    assert all(sentence.text in readable_text(MANUAL) for sentence in quoted(summary))
    assert 2 <= len(summary.brief) <= 3
    assert len(summary.brief_text) <= LONGEST_BRIEF
    assert len(summary.standard) in (1, 2)
    assert len(summary.standard_text) <= LONGEST_STANDARD
    assert summary.brief_text in summary.standard_text


def test_backticks_of_one_paragraph_do_not_pair_with_those_of_another() -> None:
    markdown = "Mind the ` sign of old shells.\n\nThe macro `\\example` counts the examples of a text.\n"
    assert "The macro \\example counts the examples of a text." in readable_text(markdown)


def test_notices_code_and_tables_are_not_quoted() -> None:
    said = summarise(MANUAL, "Press 2000").standard_text
    assert not re.search("rights reserved|clean --all|as this table", said)


def test_sentences_end_where_they_end() -> None:
    text = (
        "Use a cloth, e.g. the one of Dr. Ink, in version 2.1 of the manual. Then print a page! „Geht das?“ "
        "Ja, z. B. mit dem Tuch aus der Packung."
    )
    sentences = [sentence.text for sentence in summarise(text, "").standard[0]]
    assert sentences[0] == "Use a cloth, e.g. the one of Dr. Ink, in version 2.1 of the manual."
    assert "Ja, z. B. mit dem Tuch aus der Packung." in sentences


@pytest.mark.parametrize(
    "text",
    [
        "第一章では製品の概要を説明します。次に設置の手順を詳しく述べます。最後に保守の方法を示します。",
        "Der Drucker bedruckt Plakate bis zu zwei Metern Breite. Er ist für Druckereien gemacht.",
        "- Open the cover of the rollers carefully.\n- Wipe the rollers with a cloth.\n- Close the cover again.",
        "> A note that stands alone in the whole document says this.",
        "A title like line without any end mark",
    ],
)
def test_any_prose_is_summarised(text: str) -> None:
    summary = summarise(text, "")
    assert summary.brief
    assert summary_is_quoted(text, summary).passed


@pytest.mark.parametrize(
    "text", ["", "```\ncode\n```", "| a | b |\n|---|---|\n| c | d |", "[[IMG:a.png]]", page_mark(1)]
)
def test_without_prose_there_is_no_summary(text: str) -> None:
    assert summarise(text, "Title") == DocumentSummary()


@pytest.mark.slow("builds a whole knowledge base")
@given(st.lists(st.text(max_size=80), max_size=12))
def test_whatever_is_quoted_was_said(lines: list[str]) -> None:
    text = "\n\n".join(lines)
    summary = summarise(text, "Title")
    check = summary_is_quoted(text, summary)
    assert check.passed, check.message


def test_headings_of_the_first_level_have_their_pages() -> None:
    assert first_headings(MANUAL) == (
        Quoted(text="Introduction", page=2),
        Quoted(text="Cleaning", page=3),
        Quoted(text="Getting help", page=4),
    )
    assert first_headings("## A\n\ntext\n\n## B `c`\n\n### D") == (Quoted(text="A"), Quoted(text="B c"))
    assert first_headings("# Only a title\n\ntext") == ()


def test_an_invented_sentence_and_a_long_summary_are_noticed() -> None:
    invented = DocumentSummary(brief=(Quoted(text="The press can fly."),))
    assert "The press can fly." in summary_is_quoted(MANUAL, invented).message
    long = DocumentSummary(brief=(Quoted(text="press " * 100),))
    assert "characters, not 400" in summary_is_quoted("press " * 200, long).message
