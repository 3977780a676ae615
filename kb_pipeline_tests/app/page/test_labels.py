"""Text of others in labels, and times and numbers as people read them."""

from datetime import UTC, datetime

import pytest

from app.page.labels import age, day, label, moment

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)


def test_a_label_is_one_line_and_not_too_long() -> None:
    assert label("How do\nI   crop") == "How do I crop"
    assert label("x" * 200, 10) == "x" * 9 + "…"
    assert label(" \n ") == "…"


def test_markdown_in_a_label_is_escaped() -> None:
    assert label("**b** [l](u) $x$ `c`") == r"\*\*b\*\* \[l\]\(u\) \$x\$ \`c\`"


@pytest.mark.parametrize("read_into", [":smile:", ":material/home:", ":red[x]", "a --> b", "<->"])
def test_what_streamlit_reads_into_text_is_parted(read_into: str) -> None:
    shown = label(read_into).replace("\\", "")
    assert shown != read_into
    assert shown.replace("\u2060", "") == read_into


@pytest.mark.parametrize(
    ("iso", "shown"),
    [
        ("2026-03-03T14:05:00+00:00", "3 Mar 2026, 14:05 UTC"),
        ("2026-03-03T14:05:00+02:00", "3 Mar 2026, 12:05 UTC"),
        (None, "never"),
        ("once", "once"),
    ],
)
def test_moments(iso: str | None, shown: str) -> None:
    assert moment(iso) == shown


@pytest.mark.parametrize(("iso", "shown"), [("2026-03-03", "3 Mar 2026"), ("spring", "spring")])
def test_days(iso: str, shown: str) -> None:
    assert day(iso) == shown


@pytest.mark.parametrize(
    ("iso", "heading"),
    [
        ("2026-03-10T01:00:00+00:00", "Today"),
        ("2026-03-09T23:00:00+00:00", "Yesterday"),
        ("2026-03-04T00:00:00+00:00", "Last 7 days"),
        ("2026-01-01T00:00:00+00:00", "Earlier"),
        ("once", "Earlier"),
    ],
)
def test_ages(iso: str, heading: str) -> None:
    assert age(iso, NOW) == heading
