"""Analyzers are opened by name."""

import pytest

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.errors import SettingsError


def test_unknown_name_lists_the_known() -> None:
    with pytest.raises(SettingsError, match=r"'tesseract'; it must be one of .*local"):
        open_analyzer("tesseract")
