"""What becomes of an image before a model is shown it."""

import io

import pytest
from PIL import Image

from kb_pipeline.steps.images.raster import scaled_down
from kb_pipeline_tests.pictures import encode, screenshot


def test_a_small_image_is_shown_as_it_is() -> None:
    data = screenshot("a", size=(300, 100))
    assert scaled_down(data, 300) == (data, "image/png")


@pytest.mark.parametrize("form", ["GIF", "BMP", "TIFF"])
def test_other_formats_become_one_that_models_read(form: str) -> None:
    data, kind = scaled_down(screenshot("a", form=form), 1000)
    assert kind == "image/png"
    assert Image.open(io.BytesIO(data)).size == (120, 60)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"])
def test_every_kind_of_pixels_can_be_scaled_down(mode: str) -> None:
    form = "TIFF" if mode in ("CMYK", "I;16") else "PNG"
    data = encode(Image.new(mode, (400, 100)), form)
    assert Image.open(io.BytesIO(scaled_down(data, 200)[0])).size == (200, 50)


def test_a_photograph_becomes_a_jpeg_a_screenshot_does_not() -> None:
    noise = encode(Image.effect_noise((600, 400), 80).convert("RGB"))
    assert scaled_down(noise, 400)[1] == "image/jpeg"
    assert scaled_down(screenshot("Save as", size=(600, 400)), 400)[1] == "image/png"
