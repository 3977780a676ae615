"""Which documents a reference means."""

from collections.abc import Sequence
from datetime import date

import pytest

from app.planning.finding import Found, find, named_by
from app.planning.references import references_of
from kb_pipeline.records import Chunk
from kb_pipeline_tests.app.library import library, rows_of

TODAY = date(2026, 11, 23)
ROWS = [rows_of(made)[-1] for made in library()]


def found(text: str, *, loosely: bool = False) -> Found:
    [reference] = references_of(text)
    return find(reference, ROWS, TODAY, loosely=loosely)


def titles(rows: Sequence[Chunk]) -> list[str]:
    return [row.title for row in rows]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("vpn-guide.docx", "VPN guide"),
        ("VPN-GUIDE.docx", "VPN guide"),
        ("“Brand overview”", "Brand overview"),
        ("the VPN guide", "VPN guide"),
        ("the annual report 2023", "Annual report 2023"),
        ("the contract with Contoso", "Contract with Contoso"),
        ("the newest audit report", "Audit report 2025"),
        ("the oldest annual report", "Annual report 2021"),
        ("der Mietvertrag", "Mietvertrag Lager"),
        ("the finance report from Q3 2025", "Finance quarterly report Q3 2025"),
    ],
)
def test_one_is_meant_for_certain(text: str, title: str) -> None:
    assert titles(found(text).certain) == [title]


def test_several_may_be_meant() -> None:
    unclear = found("the travel policy")
    assert unclear.is_unclear
    assert titles(unclear.candidates) == ["Travel policy 2026", "Travel policy 2023"]
    assert len(found("the report").candidates) == 38


def test_as_many_as_are_said() -> None:
    assert titles(found("both travel policies").certain) == ["Travel policy 2026", "Travel policy 2023"]
    assert found("both annual reports").is_unclear


def test_none_is_meant() -> None:
    assert found("the holiday brochure") == Found()
    assert found("nothing.pdf") == Found()


def test_a_slip_of_the_pen_is_forgiven_at_the_second_try() -> None:
    assert found("vpn-giude.docx") == Found()
    assert titles(found("vpn-giude.docx", loosely=True).certain) == ["VPN guide"]
    assert titles(found("“Brand overveiw”", loosely=True).certain) == ["Brand overview"]


def test_a_document_is_named_by_words_that_only_it_has() -> None:
    named = named_by("contoso", "contract", ROWS)
    assert named and named.title == "Contract with Contoso"
    assert named_by("report", "report", ROWS) is None
    assert named_by("thanks", "", ROWS) is None
