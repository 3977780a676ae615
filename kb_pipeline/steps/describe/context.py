"""Add what an article says about an image to the description of what the image itself shows."""

import re
from collections.abc import Sequence

from kb_pipeline.records import ImageDescription, ImageReference
from kb_pipeline.steps.describe.navigation import path_in_prose

CONTEXT_VERSION = "2"
"""Change it whenever :func:`in_context` writes anything else."""

SEEN = "On the picture: "
"""Separates what the author wrote about an image from what was read from its pixels."""

_MAX_STEP = 240
"""Characters of the step that an image belongs to: two sentences."""
_MAX_LABEL = 200
"""Characters of a caption or an alternative text."""
_NUMBERING = re.compile(
    r"^(?:figure|fig\.?|image|picture|screenshot|table|abb(?:ildung|\.)?)\s*[\dA-Z]*[\d.:\-–]*\s*[.:\-–]?\s+(?=\S)",
    re.IGNORECASE,
)
_SAYS_NOTHING = re.compile(
    r"(?:the\s+)?(?:image|img|picture|pic|photo|screen\s?shot|screen|figure|fig|icon|graphic|diagram|logo|bild|untitled"
    r"|caution|note|warning|tip|important|example)?[\s\d.:#()-]*",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(
    r"\S+\.(?:png|jpe?g|gif|webp|bmp|tiff?|svg|image)|\S*[_/\\]\S*|\S*-\S*-\S*|\w*\d{3,}\w*", re.IGNORECASE
)
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def in_context(description: ImageDescription, reference: ImageReference, said: str = "") -> ImageDescription:
    """Add caption, alternative text and the step that the image illustrates, if they say something new.

    They come first; what was read from the pixels follows after ``SEEN``. Before all of them stands what the author
    ``said`` of the picture. It replaces nothing: the names on buttons and fields, which people search for, are only in
    what was read.

    A context that is a numbered title ("Figure 3. ...") counts as a caption. If the image shows no navigation path, one
    named in the step is used.
    """
    numbered = _NUMBERING.match(reference.context) is not None
    title, step = (reference.context, "") if numbered else ("", _step(reference.context))
    labels = [said] if said else []
    for label in (_label(reference.caption), _label(reference.alt), _label(title)):
        if label and not _repeats(label, labels):
            labels.append(label)
    parts = [_sentence(label) for label in labels]
    if step and not _repeats(step, labels):
        parts.append(_sentence(f"Shown at the step: {step}"))
    seen = f"{SEEN}{description.description}" if parts else description.description
    return description.model_copy(
        update={
            "description": " ".join([*parts, seen]),
            "navigation_path": description.navigation_path or path_in_prose(reference.context),
        }
    )


def _label(text: str) -> str:
    text = _NUMBERING.sub("", " ".join(text.split()))
    return "" if _SAYS_NOTHING.fullmatch(text) or _FILE_NAME.fullmatch(text) else _cut(text, _MAX_LABEL)


def _step(context: str) -> str:
    """Return as many of the last sentences of the context as fit."""
    sentences = _SENTENCE.split(" ".join(context.split()))
    step = sentences[-1]
    for sentence in reversed(sentences[:-1]):
        if len(sentence) + len(step) >= _MAX_STEP:
            break
        step = f"{sentence} {step}"
    return "" if _SAYS_NOTHING.fullmatch(step) else _cut(step, _MAX_STEP)


def _repeats(text: str, others: Sequence[str]) -> bool:
    """Return whether another text contains the same words in the same order."""
    words = _words(text)
    return any(words in _words(other) for other in others)


def _words(text: str) -> str:
    return f" {' '.join(_WORD.findall(text.casefold()))} "


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rsplit(' ', 1)[0]}…"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…")) else f"{text.rstrip(' :;,')}."
