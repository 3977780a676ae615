"""The operator's own words for what a model says of an image, from the file of ``KB_IMAGE_PROMPT_FILE``.

They replace what is asked of the field ``Description``. The frame around it, the other fields, and the limits of an
answer stay: see :mod:`kb_pipeline.steps.describe.image_fields`.
"""

from pathlib import Path

from kb_pipeline.errors import SettingsError, remedy
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256

_LONGEST = 20_000
"""Bytes; a longer file is no prompt but was named by mistake."""


def own_image_prompt(settings: Settings) -> str:
    """Read the prompt; "" if the settings name none, so that ours is used.

    Raises:
        SettingsError: the file cannot be read, is empty, is too long, or is not UTF-8 text.
    """
    if not settings.image_prompt_file:
        return ""
    path = Path(settings.image_prompt_file)
    try:
        with path.open("rb") as file:
            data = file.read(_LONGEST + 1)
    except OSError as exc:
        what_to_do = remedy(exc, "check that it is a file that may be read")
        raise SettingsError(f"KB_IMAGE_PROMPT_FILE: cannot read {path} ({exc.strerror or exc}); {what_to_do}") from exc
    if len(data) > _LONGEST:
        raise SettingsError(f"KB_IMAGE_PROMPT_FILE: {path} is longer than {_LONGEST:,} bytes, the limit for a prompt")
    try:
        prompt = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as exc:
        raise SettingsError(f"KB_IMAGE_PROMPT_FILE: {path} is not UTF-8 text; save it as UTF-8") from exc
    if not prompt:
        raise SettingsError(f"KB_IMAGE_PROMPT_FILE: {path} is empty; write what is to be said of an image into it")
    return prompt


def prompt_version(version: str, own_prompt: str) -> str:
    """The version of a prompt of which a part is the operator's own; descriptions are kept under it."""
    return f"{version}/{sha256(own_prompt.encode())[:12]}" if own_prompt else version
