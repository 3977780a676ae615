"""The index holds the article's chunks and no others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.checks import index_holds_the_chunks

ENTRIES = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from("12"))


def test_missing_stale_and_orphaned_entries_are_named() -> None:
    result = index_holds_the_chunks({"a": "1", "b": "1", "c": "1"}, {"b": "2", "c": "1", "d": "1", "e": "1"})
    assert result.message.startswith("1 entry missing: 'a'; 1 entry stale: 'b'; 2 entries orphaned: 'd', 'e'. ")
    assert result.counts == {"entries": 4, "missing": 1, "stale": 1, "orphaned": 2}


@pytest.mark.slow("builds a whole knowledge base")
@given(ENTRIES, ENTRIES)
def test_only_equal_entries_pass(wanted: dict[str, str], live: dict[str, str]) -> None:
    assert index_holds_the_chunks(wanted, live).passed == (wanted == live)
