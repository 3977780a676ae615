"""Which documents a question means."""

from collections.abc import Sequence
from datetime import date

from app.planning.kinds import reading_of
from app.planning.meant import Meant, meant_by
from kb_pipeline.records import Chunk
from kb_pipeline_tests.app.library import library, rows_of

TODAY = date(2026, 11, 23)
ROWS = [rows_of(made)[-1] for made in library()]


def meant(text: str, chosen: Sequence[Chunk] = ()) -> Meant:
    return meant_by(reading_of(text), ROWS, chosen, TODAY)


def titled(*titles: str) -> list[Chunk]:
    return [row for row in ROWS if row.title in titles]


def titles(rows: Sequence[Chunk]) -> list[str]:
    return [row.title for row in rows]


def test_each_reference_means_a_document() -> None:
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


def test_a_name_that_nothing_has_is_missing_and_a_mere_description_is_vague() -> None:
    named = meant("Summarise nothing.pdf")
    assert [reference.name for reference in named.missing] == ["nothing.pdf"] and not named.is_vague
    assert meant("Summarise the holiday brochure").is_vague
