"""Analyzers are opened by name."""

import sys

import pytest

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.settings import Settings


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(SettingsError, match=r"'tesseract'; it must be one of .*local"):
        open_analyzer(Settings(analyzer="tesseract"))


@pytest.mark.parametrize(
    ("analyzer", "missing"),
    [
        ("content-understanding", "rapidfuzz"),
        ("content-understanding", "azure.ai.contentunderstanding"),
        ("mistral-doc-ai", "rapidfuzz"),
        ("mistral-doc-ai", "mistralai"),
    ],
)
def test_missing_packages_name_the_extra(analyzer: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.startswith((missing, "kb_pipeline.analyzers.", "kb_pipeline.steps.restore")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    settings = Settings(analyzer=analyzer, content_understanding_endpoint="https://x", mistral_endpoint="https://x")
    with pytest.raises(MissingExtraError, match=r"pip install 'kb-pipeline\[azure\]'"):
        open_analyzer(settings)
