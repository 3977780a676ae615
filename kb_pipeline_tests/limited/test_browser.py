"""Which browser draws pages, of those that a machine has."""

from pathlib import Path

import pytest

from kb_pipeline.errors import SettingsError
from kb_pipeline.limited.browser import system_browser


def installed(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).touch(mode=0o755)


def test_a_browser_without_windows_is_taken_before_one_for_people(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    installed(tmp_path, "google-chrome", "chromium")
    assert system_browser() == str(tmp_path / "chromium")
    installed(tmp_path, "chromium-headless-shell")
    assert system_browser() == str(tmp_path / "chromium-headless-shell")


def test_without_any_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SettingsError, match="apt-get install chromium"):
        system_browser()
