"""Which documents are meant."""

from collections.abc import Sequence
from datetime import date

import pytest

from app.answering.planning.commands import commands_in
from app.answering.planning.finding import Meant, MeantDocuments, find, meant_by, named_by, references_in, spans_in
from app.answering.planning.nouns import Nouns
from app.answering.planning.references import reference_of
from kb_pipeline.records import Chunk
from kb_pipeline_tests.app.made_library import Made, library, rows_of

TODAY = date(2026, 11, 23)
BOOKS = (
    Made("debian-reference.pdf", "Debian Developer's Reference"),
    Made("faq.pdf", "The Debian GNU/Linux FAQ"),
    Made("disk-full.md", "Disk full runbook", "Runbook"),
    Made("cache.md", "Cache flush runbook", "Runbook"),
    Made("hidden.html", "Hidden files and folders"),
)
ROWS = [rows_of(made)[-1] for made in (*library(), *BOOKS)]
NOUNS = Nouns.of(ROWS)


def found(text: str) -> MeantDocuments:
    reference = reference_of(text, NOUNS)
    assert reference
    return find(reference, ROWS, TODAY)


def meant(text: str, chosen: Sequence[Chunk] = ()) -> Meant:
    command = next(commands_in(text))
    return meant_by(command, references_in(command, NOUNS), ROWS, chosen, TODAY)


def titled(*names: str) -> list[Chunk]:
    return [row for row in ROWS if row.title in names]


def titles(rows: Sequence[Chunk]) -> list[str]:
    return [row.title for row in rows]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("vpn-guide.docx", "VPN guide"),
        ("VPN-GUIDE.docx", "VPN guide"),
        ("vpn-giude.docx", "VPN guide"),
        ("“Brand overview”", "Brand overview"),
        ("“Brand overveiw”", "Brand overview"),
        ("the VPN guide", "VPN guide"),
        ("the annual report 2023", "Annual report 2023"),
        ("the contract with Contoso", "Contract with Contoso"),
        ("the newest audit report", "Audit report 2025"),
        ("the oldest annual report", "Annual report 2021"),
        ("der Mietvertrag", "Mietvertrag Lager"),
        ("the finance report from Q3 2025", "Finance quarterly report Q3 2025"),
        ("the disk full runbook", "Disk full runbook"),
        ("the developers reference", "Debian Developer's Reference"),
        ("the Debian FAQ", "The Debian GNU/Linux FAQ"),
        ("the Debain FAQ", "The Debian GNU/Linux FAQ"),
    ],
)
def test_one_is_meant_for_certain(text: str, title: str) -> None:
    each = found(text)
    assert titles(each.certain or each.candidates) == [title]


def test_several_may_be_meant() -> None:
    assert titles(found("the travel policy").candidates) == ["Travel policy 2026", "Travel policy 2023"]
    assert len(found("the report").candidates) == 38
    assert len(found("the runbook").candidates) == 2


def test_as_many_as_are_said() -> None:
    assert titles(found("both travel policies").certain) == ["Travel policy 2026", "Travel policy 2023"]
    assert not found("both annual reports").certain


@pytest.mark.parametrize("text", ["the holiday brochure", "nothing.pdf", "files", "two files", "a tickets view"[2:]])
def test_none_is_meant(text: str) -> None:
    assert not found(text)


def test_a_document_is_named_by_words_that_only_it_has() -> None:
    named = named_by("contoso", "contract", ROWS)
    assert named and named.title == "Contract with Contoso"
    assert named_by("report", "report", ROWS) is None
    assert named_by("thanks", "", ROWS) is None


def test_each_side_of_a_comparison_means_a_document() -> None:
    about = meant("Compare the VPN guide and the annual report 2023")
    assert titles(about.rows) == ["VPN guide", "Annual report 2023"]
    assert not about.unclear and not about.missing


def test_what_was_chosen_is_meant_whatever_else_fits() -> None:
    [chosen] = titled("Travel policy 2023")
    assert titles(meant("Summarise the travel policy", [chosen]).rows) == ["Travel policy 2023"]


def test_a_comparison_keeps_what_is_clear_beside_what_was_chosen() -> None:
    [chosen] = titled("Travel policy 2023")
    about = meant("Compare the travel policy with the VPN guide", [chosen])
    assert titles(about.rows) == ["Travel policy 2023", "VPN guide"]


def test_of_several_the_best_is_a_guess() -> None:
    unclear = meant("Summarise the travel policy")
    assert unclear.rows == () and titles(unclear.candidates) == ["Travel policy 2026", "Travel policy 2023"]
    guess = unclear.with_guesses()
    assert guess.guessed and titles(guess.rows) == ["Travel policy 2026"]


def test_a_name_that_nothing_has_is_missing() -> None:
    assert [reference.name for reference in meant("Summarise nothing.pdf").missing] == ["nothing.pdf"]


def test_what_may_be_any_document_is_no_reference() -> None:
    command = next(commands_in("What is the difference between a report and an article?"))
    assert references_in(command, NOUNS) == ()


@pytest.mark.parametrize(
    ("question", "spans"),
    [
        ("Summarise the disk full runbook for a new colleague", ("the disk full runbook",)),
        ("How similar are the VPN guide and the printer guide?", ("the VPN guide", "the printer guide")),
        ("Was kostet der Mietvertrag Lager im Jahr?", ("der Mietvertrag Lager",)),
        ("Compare two files in a document", ()),
    ],
)
def test_the_words_of_names_around_a_noun(question: str, spans: tuple[str, ...]) -> None:
    assert spans_in(question, NOUNS, ROWS) == spans
