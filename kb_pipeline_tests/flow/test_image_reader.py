"""No image takes more time or memory than it may, whatever it holds, and the next one is read as ever."""

import subprocess
import sys
import threading

import psutil
import pytest

from kb_pipeline.errors import ImageError
from kb_pipeline.flow.image_reader import MEMORY_MB, SECONDS, ImageReader
from kb_pipeline.settings import Settings
from kb_pipeline_tests.hostile import drawings, pictures
from kb_pipeline_tests.measuring import peak_of_children
from kb_pipeline_tests.pictures import screenshot

_SHORT = 3.0
_SMALL_MB = 700
_BETWEEN_LOOKS_MB = 1_500
"""By which a process may have grown when it is next looked at, on a busy machine; without limits it takes many GB."""

GOOD = b'<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="9" height="9"/></svg>'


@pytest.mark.rare("hostile images of whole size")
@pytest.mark.timeout(900)
def test_every_hostile_image_is_drawn_or_explained_within_limits() -> None:
    reader = ImageReader(1.0, _SMALL_MB)
    outcomes: dict[str, str] = {}
    hostile = {**drawings(), **pictures()}
    with peak_of_children() as peak:
        for name, data in hostile.items():
            info = reader.probe(name, data)
            try:
                outcomes[name] = f"{len(reader.to_png(data).data)} bytes"
            except ImageError as exc:
                outcomes[name] = info.problem or str(exc)
    assert outcomes.keys() == hostile.keys()
    assert all(outcomes.values())
    assert peak.mb < _SMALL_MB + _BETWEEN_LOOKS_MB
    assert reader.to_png(GOOD)[1:] == (40, 20)


@pytest.mark.slow("reads text on pictures")
def test_a_drawing_that_never_ends_is_given_up_and_says_what_to_do() -> None:
    reader = ImageReader(_SHORT, _SMALL_MB)
    with pytest.raises(ImageError, match="longer than 3 s; raise KB_IMAGE_SECONDS or KB_IMAGE_MEMORY_MB"):
        reader.to_png(drawings()["dashes"])
    assert reader.to_png(GOOD)[1:] == (40, 20)


@pytest.mark.slow("reads text on pictures")
def test_a_picture_that_takes_too_much_memory_is_given_up_and_says_so() -> None:
    reader = ImageReader(SECONDS, 60)
    with pytest.raises(ImageError, match="needed more than 60 MB of memory"):
        reader.to_png(screenshot(size=(5000, 5000), form="GIF"))


def test_a_drawing_that_crashes_the_renderer_is_no_more_than_its_own_problem() -> None:
    reader = ImageReader()
    with pytest.raises(ImageError, match="died"):
        reader.to_png(drawings()["large pattern"])
    assert reader.probe("good.svg", GOOD).problem is None


def test_an_image_whose_process_was_killed_by_somebody_else_is_read_all_the_same() -> None:
    reader = ImageReader()
    before = psutil.Process().children()
    assert reader.probe("good.svg", GOOD).problem is None
    (decoding,) = [process for process in psutil.Process().children() if process not in before]
    decoding.suspend()
    threading.Timer(0.5, decoding.kill).start()
    assert reader.to_png(GOOD)[1:] == (40, 20)


def test_a_picture_that_is_asked_for_twice_is_decoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = ImageReader()
    first = reader.to_png(screenshot("Save", form="GIF"))
    monkeypatch.setattr(reader, "_process", None)
    assert reader.to_png(screenshot("Save", form="GIF")) == first


def test_the_settings_say_the_usual_limits() -> None:
    defaults = Settings.model_fields
    assert (defaults["image_seconds"].default, defaults["image_memory_mb"].default) == (SECONDS, MEMORY_MB)
    assert ImageReader().unusual_limits == ""
    assert ImageReader(60, MEMORY_MB).unusual_limits == "/60 s, 1500 MB"


def test_a_plain_picture_starts_no_process() -> None:
    children = psutil.Process().children()
    reader = ImageReader()
    assert reader.probe("plain.png", screenshot("Save")).format == "PNG"
    assert reader.to_png(screenshot("Save")).data
    assert psutil.Process().children() == children


def test_the_process_imports_little_because_every_worker_starts_one() -> None:
    script = "import sys, kb_pipeline.limited.child, kb_pipeline.steps.images; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "PIL.Image" in imported
    assert not {"pydantic", "psutil", "kb_pipeline.records"}.intersection(imported)
