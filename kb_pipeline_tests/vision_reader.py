"""What the doubles of vision models say of an image: its text as Tesseract reads it, in the manner of models.

Nothing of the pipeline's own reading takes part. The habits are those that answers of such models have: markdown in
plain text, several lines, typographic quotes, the same element twice, a path in one string, invisible characters.

Two wishes of a prompt are obeyed, wherever they stand in it: "in German" changes the model's own words but not those
that it quotes, and "at most 3 lines" has it quote no more.
"""

import io
import re
from functools import lru_cache
from typing import NamedTuple

from PIL import Image

from kb_pipeline_tests.text_recognition import lines_on

_LABEL = 40
"""A line with so many letters or fewer is taken for a label."""

_ENGLISH = "**Screenshot** of a program.\u200b It reads:", "**An image** without text."
_GERMAN = "**Bildschirmfoto** eines Programms.\u200b Darauf steht:", "**Ein Bild** ohne Text."
_MOST = re.compile(r"at most (\d+) lines")


class Seen(NamedTuple):
    """The fields that a model is asked for."""

    description: str
    ui_elements: tuple[str, ...]
    navigation_path: tuple[str, ...]


def seen_on(png: bytes, prompt: str = "") -> Seen:
    """The answer of a model that is shown an image and asked for its description by a prompt."""
    lines = _lines_on(png)
    paths = [line for line in lines if " > " in line or ">" in line.strip("> ")]
    labels = [line for line in lines if len(line) <= _LABEL and line not in paths]
    most = _MOST.search(prompt)
    quoted = "\n".join(f"- \u201c{line}\u201d" for line in lines[: int(most[1]) if most else None])
    begins, without_text = _GERMAN if "in German" in prompt else _ENGLISH
    what = f"{begins}\n\n{quoted}" if lines else without_text
    return Seen(what, (*labels, *labels[:2]), tuple(paths[:1]))


@lru_cache(maxsize=64)
def _lines_on(png: bytes) -> tuple[str, ...]:
    with Image.open(io.BytesIO(png)) as image:
        shown = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA")).convert("RGB")
    on_white = io.BytesIO()
    shown.save(on_white, "PNG")
    return tuple(" ".join(word.text for word in line) for line in lines_on(on_white.getvalue()))
