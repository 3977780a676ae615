"""YAML that people write: each key stands once, and each value where it is read."""

import re

import pytest

from kb_pipeline.steps.strict_yaml import strict_yaml


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("acl: [noc]\nb: 1\nacl: []", "the key 'acl' occurs twice, on line 1 and on line 3"),
        ("a:\n  b:\n    - c: 1\n      d: 2\n      c: 3", "the key 'c' occurs twice, on line 3 and on line 5"),
        ("{acl: [noc], acl: []}", "'acl' occurs twice, in one line"),
        ('acl: [noc]\n"\\x61cl": []', "on line 1 and on line 2"),
        ("acl: [noc]\n!!str acl: []", "on line 1 and on line 2"),
        ("? acl\n: [noc]\n? acl\n: []", "on line 1 and on line 3"),
        (
            "acl: [noc]\nACL: []",
            "the keys 'acl' and 'ACL', on line 1 and on line 2, differ only in how they are written",
        ),
        ("acl: [noc]\nａｃｌ: []", "differ only in how they are written"),
        ('"é": 1\n"e\\u0301": 2', "differ only in how they are written"),
        ('acl: [noc]\n"acl ": []', "differ only in how they are written"),
        ('acl: [noc]\n"acl\\u200b": []', "differ only in how they are written"),
        ("!!omap [acl: [noc], acl: []]", "could not determine a constructor"),
        ("a: !!pairs [acl: [noc], acl: []]", "could not determine a constructor"),
        ("acl: [!!str {=: noc, =: hr}]", "expected a scalar node"),
        ("a: [1.0e+999]", "inf is no finite number"),
        ("a: .nan", "nan is no finite number"),
        ("yes: 1\ntrue: 2", "'True' occurs twice"),
        ("1: 1\n0x1: 2", "'1' occurs twice"),
        ('1: 1\n"1": 2', "'1' occurs twice"),
        ("a: !!set {x, x}", "'x' occurs twice"),
        ("a: &a {x: 1}\nb: *a", "line 2 uses YAML aliases"),
        ("a: &a {x: 1}\nb:\n  <<: *a", "YAML aliases"),
        ("acl: [noc]\n<<: {acl: []}", "line 2 merges other keys"),
        ("a: 1\n---\na: 2", "but found another document"),
        ("[" * 100_000, "nests 100000 brackets"),
        ("? [a]\n: 1", "unhashable"),
        ("a: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("a: 2026-99-99", "month must be in"),
    ],
)
def test_what_others_would_read_in_several_ways_is_refused(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=re.escape(told)):
        strict_yaml(text)
    with pytest.raises(ValueError, match=re.escape(told)):
        strict_yaml(text.encode())


def test_a_key_may_stand_in_several_mappings_and_an_anchor_be_unused() -> None:
    assert strict_yaml("a: &x {a: 1}\nb: [{a: 1}, {a: 2}]\n") == {"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}
    assert strict_yaml("") is None
