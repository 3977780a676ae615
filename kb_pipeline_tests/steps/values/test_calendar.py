"""Names of months and languages are those of CLDR."""

import pytest

from kb_pipeline.steps.values.calendar import language_named, months, weekdays


def test_months_and_days_have_names_in_each_language() -> None:
    assert [months()[name] for name in ("may", "märz", "août", "dic")] == [5, 3, 8, 12]
    assert "août" not in months(("en", "de"))
    assert weekdays()["montag"] == weekdays()["monday"] == 0


@pytest.mark.parametrize(
    ("word", "code"),
    [
        ("German", "de"),
        ("deutschen", "de"),
        ("English", "en"),
        ("spanische", "es"),
        ("report", None),
    ],
)
def test_a_language_is_named_with_any_ending(word: str, code: str | None) -> None:
    assert language_named(word) == code
