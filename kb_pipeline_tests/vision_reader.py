"""What the doubles of vision models say of an image: text recognition by RapidOCR itself, in the manner of models.

Nothing of the pipeline's own reading takes part. The habits are those that answers of such models have: markdown in
plain text, several lines, typographic quotes, the same element twice, a path in one string, invisible characters.
"""

import io
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from PIL import Image

from kb_pipeline_tests.mistral_reader import recognition

_LABEL = 40
"""A line with so many letters or fewer is taken for a label."""


class Seen(NamedTuple):
    """The fields that a model is asked for."""

    description: str
    ui_elements: tuple[str, ...]
    navigation_path: tuple[str, ...]


@lru_cache(maxsize=16)
def seen_on(png: bytes) -> Seen:
    """The answer of a model that is shown an image."""
    with Image.open(io.BytesIO(png)) as image:
        shown = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
        pixels = np.array(shown.convert("RGB"))[:, :, ::-1]
    short, long = sorted(pixels.shape[:2])
    is_readable = short >= 8 and long >= 40 and long < 100 * short  # RapidOCR scales thinner ones to nothing
    lines = list(recognition()(pixels).txts or ()) if is_readable else []
    paths = [line for line in lines if " > " in line or ">" in line.strip("> ")]
    labels = [line for line in lines if len(line) <= _LABEL and line not in paths]
    quoted = "\n".join(f"- \u201c{line}\u201d" for line in lines)
    what = f"**Screenshot** of a program.\u200b It reads:\n\n{quoted}" if lines else "**An image** without text."
    return Seen(what, (*labels, *labels[:2]), tuple(paths[:1]))
