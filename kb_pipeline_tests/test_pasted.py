"""Of a pasted mail its question is found: whatever its program writes around it."""

import pytest

from kb_pipeline.pasted import asked_in, is_pasted, question_of

FROM_OUTLOOK = """From: Jane Doe <jane@example.com>
Sent: Monday, 3 March 2026 10:12
To: Support
Subject: Webhooks

Dear Mr Miller,

since Monday the webhook of our shop does not fire.
How do I see why a webhook was not delivered?

Kind regards
Jane Doe
Head of Sales, Example GmbH
"""
ANSWERED = """Any news?

Jane

On Mon, 3 Mar 2026 at 10:12, Jane Doe <jane@example.com> wrote:
> Hello Support,
>
> how can I export the list of all tickets as CSV?
>
> Jane
"""
FORWARDED = """FYI, see below.

-----Original Message-----
Von: Peter Müller
Gesendet: Montag, 3. März 2026 10:12
An: support@example.com
Betreff: Drucker

Sehr geehrte Damen und Herren,
der Drucker druckt seit gestern nicht mehr.
Mit freundlichen Grüßen
Peter Müller"""
IN_POLISH = """Szanowni Państwo,
jak mogę zmienić hasło w aplikacji? Nie działa od wczoraj.
Z poważaniem,
Jan Kowalski
"""


@pytest.mark.parametrize(
    ("mail", "question"),
    [
        (FROM_OUTLOOK, "How do I see why a webhook was not delivered?"),
        (ANSWERED, "how can I export the list of all tickets as CSV?"),
        (FORWARDED, "der Drucker druckt seit gestern nicht mehr."),
        (IN_POLISH, "jak mogę zmienić hasło w aplikacji?"),
    ],
)
def test_head_greeting_signature_and_what_is_quoted_are_no_part_of_the_question(mail: str, question: str) -> None:
    assert is_pasted(mail)
    assert question_of(mail) == question


def test_what_stands_around_the_questions_is_looked_up_after_them() -> None:
    asked, around = asked_in(FROM_OUTLOOK).split("\n")
    assert asked == "How do I see why a webhook was not delivered?"
    assert around == "since Monday the webhook of our shop does not fire."


def test_lines_about_the_matter_are_no_head() -> None:
    text = "Version: 2.1\nSystem: Windows 11\nThe import stops at half of the file."
    assert question_of(text) == " ".join(text.split())


def test_what_has_nothing_else_is_kept_as_it_is() -> None:
    assert question_of("Jane\nDoe\nBerlin") == "Jane Doe Berlin"
    assert question_of("> quoted\n> and nothing\n> else").split() == "quoted and nothing else".split()


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("How do I crop a layer?", "How do I crop a layer?"),
        ("Hallo Frau Müller, wie drucke ich?", "wie drucke ich?"),
        ("Hi, the printer is broken.", "the printer is broken."),
        ("Hello", "Hello"),
        ("dear printer broke down again in the office", "dear printer broke down again in the office"),
    ],
)
def test_a_short_message_is_its_question_without_the_greeting(text: str, question: str) -> None:
    assert not is_pasted(text)
    assert question_of(text) == question
    assert asked_in(text) == text
