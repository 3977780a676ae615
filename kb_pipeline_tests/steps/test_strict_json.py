"""JSON that people write: a key that stands twice is refused with both places, however it is escaped."""

import re

import pytest

from kb_pipeline.steps.strict_json import strict_json


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"a": 1,\n\n"a": 2}', "'a' occurs twice, on line 1 and on line 3"),
        ('{"acl": ["hr"], "\\u0061cl": []}', "'acl' occurs twice, in one line"),
        ('[{"b": {"a": 1}},\n{"b": [{"a": "{\\"a\\": 1, \\"a\\": 2}",\n"c": 0,\n"a": 2}]}]', "on line 2 and on line 4"),
        ('{"\\"": 1,\n"\\u0022": 2}', "on line 1 and on line 2"),
        ('{"": 1,\n"": 2}', "the key '' occurs twice"),
        ("[" * 100_000, "nested too deeply"),
        (
            '{"acl": ["hr"],\n"ACL": []}',
            "'acl' and 'ACL', on line 1 and on line 2, differ only in how they are written",
        ),
        ('{"acl": ["hr"], "acl ": []}', "differ only in how they are written"),
        ('{"acl": ["hr"], "a\u200bcl": []}', "differ only in how they are written"),
        ('{"acl": ["hr"], "\\uff41cl\\u0000": []}', "differ only in how they are written"),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": [-1e999]}', "-1e999 is no finite number"),
        ('{"a": 1', "line 1"),
    ],
)
def test_what_others_would_read_in_several_ways_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        strict_json(text)


def test_a_key_may_stand_in_several_objects_and_be_a_value() -> None:
    assert strict_json('{"a": {"a": "a"}, "b": [{"a": 1}, {"a": ":"}]}') == {
        "a": {"a": "a"},
        "b": [{"a": 1}, {"a": ":"}],
    }
