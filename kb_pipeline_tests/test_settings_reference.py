"""``docs/settings.md`` names every setting as it is in the code."""

from kb_pipeline_tests.settings_reference import FIELDS, REFERENCE, reference


def test_it_is_up_to_date() -> None:
    assert REFERENCE.read_text() == reference(), "run: make settings"


def test_every_setting_is_described_in_it_once() -> None:
    rows = [line for line in REFERENCE.read_text().splitlines() if line.startswith("| `KB_")]
    assert sorted(row.split("`")[1] for row in rows) == sorted(FIELDS)
    assert all(field.description and f"| {field.description} |" in "\n".join(rows) for field in FIELDS.values())
