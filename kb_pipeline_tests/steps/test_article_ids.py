"""A folder name is an article id when it is safe as file name, partition key and part of a URL."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import InvalidArticleIdError
from kb_pipeline.steps.article_ids import MAX_BYTES, check_article_id


@pytest.mark.parametrize(
    "name", ["create-a-ticket", "Release 2.4 notes", "v1.2..3", "Überblick", "工单", "a", "x" * MAX_BYTES]
)
def test_ordinary_names_are_accepted(name: str) -> None:
    assert check_article_id(name) == name


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "empty"),
        ("   ", "empty"),
        (" padded", "begins or ends with a space"),
        (".git", "begin with '.'"),
        ("_draft", "begin with '.' or '_'"),
        ("..", "begin with '.'"),
        ("a...b", "range of partitions"),
        ("a/b", "/ is not allowed"),
        ("a\\b", "not allowed"),
        ("what?", "? is not allowed"),
        ("line\nbreak", "control or invisible"),
        ("zero\u200bwidth", "control or invisible"),
        ("right\u202eto-left", "control or invisible"),
        ("x" * 300, "300 bytes long"),
        ("ü" * 101, "202 bytes long"),
    ],
)
def test_refused_names_say_why_and_what_to_do(name: str, reason: str) -> None:
    with pytest.raises(InvalidArticleIdError, match=r"rename the folder$") as refusal:
        check_article_id(name)
    assert reason in str(refusal.value)


@given(st.text(max_size=260))
def test_an_accepted_name_is_one_path_component(name: str) -> None:
    try:
        check_article_id(name)
    except InvalidArticleIdError:
        return
    assert name not in ("", ".", "..")
    assert not set(name) & set("/\\\0\n")
    assert len(f"{name}.parquet".encode()) <= 255
