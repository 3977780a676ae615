"""Backends are named by a short name, or by module and class of somebody else's."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.analyzers.base import Analyzer
from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.errors import SettingsError
from kb_pipeline.plugins import find_opener
from kb_pipeline.settings import Settings

KNOWN = {"local": LocalAnalyzer}


def find(name: str) -> Callable[..., Analyzer]:
    return find_opener("KB_ANALYZER", name, KNOWN, Analyzer)  # type: ignore[type-abstract]


def open_one(name: str) -> Analyzer:
    return find(name)(Settings())


def test_ours_by_name_and_others_by_module_and_class() -> None:
    assert find("local") is LocalAnalyzer
    opened = open_one("kb_pipeline.analyzers.local:LocalAnalyzer")
    assert type(opened) is LocalAnalyzer


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


HALF = """
from kb_pipeline.analyzers.base import Analyzer
class Half(Analyzer):
    converter = "half-1"
    def convert(self, article_id, html, images): ...
    def describe(self, png): ...
class Broken(Half):
    def __init__(self, settings):
        raise RuntimeError("no licence")
"""


@pytest.mark.parametrize(
    ("module", "name", "said"),
    [
        ("raise RuntimeError('boom')", "Half", r"cannot be imported: RuntimeError: boom \(.*someones.py, line 1\)"),
        (HALF, "Broken", r"cannot be opened: RuntimeError: no licence \(.*someones.py, line 9\)"),
        (HALF, "Half", "has no name and no image_model and no prompt_version; see kb_pipeline.analyzers.base"),
    ],
)
def test_a_plug_in_that_raises_or_is_incomplete_is_named_with_the_place(
    module: str, name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "someones.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "someones", raising=False)
    with pytest.raises(SettingsError, match=f"^KB_ANALYZER is 'someones:{name}', which {said}"):
        open_one(f"someones:{name}")
