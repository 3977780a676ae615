"""Backends are named by a short name, or by module and class of somebody else's."""

import pytest

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.errors import SettingsError
from kb_pipeline.plugins import find_opener

KNOWN = {"local": LocalAnalyzer}


def find(name: str) -> object:
    return find_opener("KB_ANALYZER", name, KNOWN, Analyzer)


def test_ours_by_name_and_others_by_module_and_class() -> None:
    assert find("local") is LocalAnalyzer
    assert find("kb_pipeline.analyzers.local:LocalAnalyzer") is LocalAnalyzer


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("magic", "must be one of local, or package.module:Class"),
        ("no.such.module:Class", "cannot be imported: No module named"),
        ("kb_pipeline.analyzers.local:Nothing", "cannot be imported"),
        ("kb_pipeline.errors:SettingsError", "is not a subclass of kb_pipeline.analyzers.base:Analyzer"),
    ],
)
def test_a_wrong_name_is_explained_with_its_setting(name: str, said: str) -> None:
    with pytest.raises(SettingsError, match=r"^KB_ANALYZER is ") as refusal:
        find(name)
    assert said in str(refusal.value)
