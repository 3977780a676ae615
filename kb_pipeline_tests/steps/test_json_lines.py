"""Files of JSON lines: what a line is, and what is said of a faulty one."""

import pytest
from pydantic import BaseModel, Field

from kb_pipeline.steps.json_lines import numbered_lines, read_line


class Known(BaseModel):
    name: str
    counts: list[int] = Field(default_factory=list)


def test_empty_lines_are_left_out_but_counted_and_a_byte_order_mark_is_none_of_the_text() -> None:
    assert list(numbered_lines(b"\xef\xbb\xbfa\r\n\n  \n b \n")) == [(1, b"a"), (4, b"b")]


def test_only_a_line_feed_ends_a_line() -> None:
    assert list(numbered_lines("a\u2028b\x0cc".encode())) == [(1, "a\u2028b\x0cc".encode())]


def test_a_line_is_read_as_the_object_that_it_is() -> None:
    assert read_line(Known, b'{"name": "x", "counts": [1]}') == Known(name="x", counts=[1])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{}", "^name: Field required$"),
        (b'{"name": "x", "counts": [1, "y"]}', r"^counts\.1: "),
        (b"[", "^Invalid JSON"),
        (b'{"name": "x", "name": "y"}', "'name' occurs twice"),
    ],
)
def test_of_a_faulty_line_the_first_field_is_named(line: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read_line(Known, line)
