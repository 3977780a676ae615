"""The operator's own prompt for images: read from a file, part of what descriptions are kept under."""

from pathlib import Path

import pytest

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.errors import SettingsError
from kb_pipeline.models.image_prompt import own_image_prompt, prompt_version
from kb_pipeline.settings import Settings


def prompted(folder: Path, data: bytes) -> Settings:
    """Settings that name a file with this content."""
    (folder / "prompt.txt").write_bytes(data)
    return Settings(image_prompt_file=str(folder / "prompt.txt"))


def test_without_a_file_there_is_none() -> None:
    assert own_image_prompt(Settings()) == ""
    assert prompt_version("vision-1", "") == "vision-1"


def test_it_is_the_text_of_the_file(tmp_path: Path) -> None:
    assert own_image_prompt(prompted(tmp_path, b"\xef\xbb\xbfName the window.\n")) == "Name the window."


def test_another_text_is_another_version() -> None:
    versions = [prompt_version("vision-1", text) for text in ("", "Name the window.", "Name the button.")]
    assert len(set(versions)) == 3
    assert all(version.startswith("vision-1") for version in versions)


@pytest.mark.parametrize(
    ("data", "said"),
    [(b" \n", "is empty"), (b"\xff\xfe\x00", "is not UTF-8 text"), (b"a" * 20_001, "longer than 20,000 bytes")],
)
def test_a_file_that_is_no_prompt_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(SettingsError, match=f"KB_IMAGE_PROMPT_FILE: .*prompt.txt {said}|prompt.txt is {said}"):
        own_image_prompt(prompted(tmp_path, data))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"KB_IMAGE_PROMPT_FILE: cannot read .*nowhere.txt \(No such file"):
        own_image_prompt(Settings(image_prompt_file=str(tmp_path / "nowhere.txt")))


def test_an_analyzer_that_reads_images_by_rules_takes_none(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"KB_ANALYZER=local describes images without a prompt of yours; unset KB_I"
    ):
        open_analyzer(prompted(tmp_path, b"Name the window."))
