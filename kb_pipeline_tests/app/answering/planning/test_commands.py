"""The plain commands that are about documents, told by the whole question."""

import time

import pytest

from app.answering.planning.commands import LONGEST, commands_in, cued_in, has_cue


@pytest.mark.parametrize(
    ("question", "kind", "sides"),
    [
        ("Summarise the developers reference", "DOCUMENT_SUMMARY", ("the developers reference",)),
        (
            "Could you give me a brief overview of the safety manual, please?",
            "DOCUMENT_SUMMARY",
            ("the safety manual",),
        ),
        ("tl;dr of the release notes", "DOCUMENT_SUMMARY", ("the release notes",)),
        ("What is the go-live checklist about?", "DOCUMENT_SUMMARY", ("the go-live checklist",)),
        (
            "Kannst du mir das Sicherheitshandbuch kurz zusammenfassen?",
            "DOCUMENT_SUMMARY",
            ("das Sicherheitshandbuch",),
        ),
        ("Worum geht es im Störungsbericht?", "DOCUMENT_SUMMARY", ("im Störungsbericht",)),
        ("Compare a.pdf with b.pdf", "COMPARISON", ("a.pdf", "b.pdf")),
        ("How does the manual differ from the handbook?", "COMPARISON", ("the manual", "the handbook")),
        ("Worin unterscheiden sich die beiden Handbücher?", "COMPARISON", ("die beiden Handbücher",)),
        ("Was ist der Unterschied zwischen a.pdf und b.pdf?", "COMPARISON", ("a.pdf", "b.pdf")),
    ],
)
def test_the_words_for_documents(question: str, kind: str, sides: tuple[str, ...]) -> None:
    found = next(commands_in(question))
    assert (found.kind, found.sides) == (kind, sides)


@pytest.mark.parametrize(
    ("question", "fields"),
    [
        ("How many pages does the handbook have?", ("page_count",)),
        ("Who wrote the annual report?", ("author",)),
        ("When was the annual report uploaded?", ("upload_date",)),
        ("When was the annual report written?", ("created",)),
        ("When was the annual report last changed?", ("changed",)),
        ("Which department owns the handbook?", ("department",)),
        ("What type of document is notes.md?", ("document_type",)),
        ("What language is the handbook written in?", ("language",)),
        ("What is the file name of the handbook?", ("filename",)),
        ("Tell me the author and date of the Q2 report", ("author", "upload_date")),
        ("Wer hat den Jahresbericht geschrieben?", ("author",)),
        ("Wann wurde der Auditbericht hochgeladen?", ("upload_date",)),
        ("Wie viele Seiten hat das Handbuch?", ("page_count",)),
    ],
)
def test_the_facts_that_are_asked_for(question: str, fields: tuple[str, ...]) -> None:
    found = next(commands_in(question))
    assert (found.kind, found.fields) == ("METADATA_SEARCH", fields)


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("What does the onboarding guide say about accounts?", "accounts"),
        ("According to the handbook, how often are backups made?", "how often are backups made"),
        ("In the administrator handbook, how do I restore a backup?", "how do I restore a backup"),
        ("How do I restore a backup in handbook.pdf?", "How do I restore a backup"),
        ("Does the travel policy mention hotels?", "hotels"),
        ("Was sagt das Handbuch über Sicherungen?", "Sicherungen"),
        ("Was steht im Handbuch über Sicherungen?", "Sicherungen"),
    ],
)
def test_a_question_to_one_document_is_a_search_within_it(question: str, about: str) -> None:
    found = next(commands_in(question))
    assert found.kind == "CONTENT_SEARCH"
    assert found.about == about


@pytest.mark.parametrize(
    ("question", "about"),
    [
        ("Compare the handbook and the policy on holidays", "holidays"),
        ("What is the difference between a.pdf and b.pdf regarding hotels?", "hotels"),
        ("Compare the handbook and the policy: notice periods", "notice periods"),
        ("Vergleiche die Richtlinie und das Handbuch zu Urlaub", "Urlaub"),
        ("Compare a.pdf and b.pdf", ""),
    ],
)
def test_documents_are_compared_about_a_subject_or_as_a_whole(question: str, about: str) -> None:
    assert next(commands_in(question)).about == about


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("Put the Q2 report and the Q3 report side by side", ("the Q2 report", "the Q3 report")),
        ("Sum up what the password policy says", ("the password policy",)),
        ("Which team owns the DNS change runbook?", ("the DNS change runbook",)),
        ("Wer ist der Autor der Arbeitsanweisung Gabelstapler?", ("der Arbeitsanweisung Gabelstapler",)),
        ("How do the policies of 2024 and 2026 differ?", ("the policies of 2024", "2026")),
        ('Who is the author of "Page numbers by date"?', ('"Page numbers by date"',)),
    ],
)
def test_a_cue_and_little_words_may_stand_in_any_order(question: str, sides: tuple[str, ...]) -> None:
    assert next(commands_in(question)).sides == sides


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("Summarise it", "DOCUMENT_SUMMARY"),
        ("What are the differences?", "COMPARISON"),
        ("How many pages?", "METADATA_SEARCH"),
    ],
)
def test_documents_that_the_asker_chose_need_no_name(question: str, kind: str) -> None:
    found = next(commands_in(question))
    assert found.kind == kind
    assert found.sides[0] in ("it", "them")


@pytest.mark.parametrize(
    "question",
    [
        "How do I delete a file?",
        "find files by content",
        "list hidden files",
        "How do I summarise a long ticket for a colleague?",
        "How do I compare two versions of a document?",
        "Who can write articles?",
        "Wie erstelle ich einen Bericht?",
        "Wer darf ein Dokument ändern?",
        "Summarise the report.\nThen tell me more.",
        "",
        "???",
    ],
)
def test_everything_else_is_a_question(question: str) -> None:
    assert list(commands_in(question)) == []


def test_a_story_is_a_question() -> None:
    story = "Summarise the report. " + "Yesterday I came to work. " * 20
    assert len(story) > LONGEST
    assert list(commands_in(story)) == []


@pytest.mark.parametrize("word", ["and ", "say about ", "hi ", "x vs ", "on x ", "the "])
def test_a_question_without_an_end_is_read_in_time(word: str) -> None:
    started = time.perf_counter()
    list(commands_in(f"compare {word * 90}"[:LONGEST]))
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("question", "spans", "kind"),
    [
        ("Summarise the disk full runbook for a new colleague", ("the disk full runbook",), "DOCUMENT_SUMMARY"),
        ("How similar are the two policies?", ("the two policies",), "COMPARISON"),
        ("Wie viele Seiten umfasst der Bericht?", ("der Bericht",), "METADATA_SEARCH"),
    ],
)
def test_with_a_strong_cue_and_words_of_names_other_words_do_not_matter(
    question: str, spans: tuple[str, ...], kind: str
) -> None:
    assert has_cue(question)
    assert [each.kind for each in cued_in(question, spans)] == [kind]


def test_who_asks_how_something_is_done_gives_no_command_whatever_is_named() -> None:
    assert not list(cued_in("How do I compare the two policies?", ("the two policies",)))
    assert not list(cued_in("Compare two files", ()))
