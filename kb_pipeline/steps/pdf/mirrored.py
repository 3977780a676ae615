"""Pages that are read from right to left are laid out as if seen in a mirror, so that all rules of places hold."""

import re
from collections.abc import Sequence
from dataclasses import replace

from kb_pipeline.steps.pdf.model import Box, Page, Word

RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u05ff\u0608\u060b\u060d\u061c-\u061e\u0620-\u065f\u066e-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
)
"""Letters of scripts that go from right to left; not the digits and signs between them."""
_LETTER = re.compile(r"[^\W\d_]")


def is_right_to_left(text: str) -> bool:
    """Whether most letters of a text are of a script from right to left."""
    count = len(RIGHT_TO_LEFT.findall(text))
    return count > 0 and 2 * count > len(_LETTER.findall(text))


def mirrored(page: Page) -> Page:
    """The page as a mirror shows it; words keep their letters and their order."""

    def words(of: Sequence[Word]) -> tuple[Word, ...]:
        return tuple(word._replace(box=mirrored_box(word.box, page.width)) for word in of)

    return replace(
        page,
        words=words(page.words),
        notes=tuple(map(words, page.notes)),
        links=tuple(replace(link, box=mirrored_box(link.box, page.width)) for link in page.links),
        drawings=tuple(replace(drawing, box=mirrored_box(drawing.box, page.width)) for drawing in page.drawings),
        images=tuple(mirrored_box(box, page.width) for box in page.images),
    )


def mirrored_box(box: Box, width: float) -> Box:
    """The place of a box on a page of this width in a mirror."""
    return box._replace(left=width - box.right, right=width - box.left)
