"""Which settings a preview may change, and the settings that result.

A preview changes what articles are made into. Places, keys and machines stay what they are: with them it would read or
write somewhere else.
"""

from collections.abc import Mapping
from difflib import get_close_matches

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import Settings, load_settings

CHANGEABLE = (
    *("analyzer", "mistral_model", "vision_model", "image_prompt_file", "sources", "embedder"),
    *("transcription_model", "chunk_max_tokens", "chunk_min_tokens", "advisory_checks", "prices", "ocr_pages"),
    *("article_seconds", "article_memory_mb", "image_seconds", "image_memory_mb"),
    *("document_seconds", "document_memory_mb", "document_bytes", "document_pages", "unread_pages_above"),
)
"""Settings that decide what is made of an article, or what it costs."""


def changed_settings(settings: Settings, changes: Mapping[str, str]) -> Settings:
    """The settings with these variables (``KB_...``) as text, validated like those of the environment.

    Raises:
        SettingsError: there is no such setting, a preview may not change it, or a value is not valid.
    """
    names = {_field(variable): text for variable, text in changes.items()}
    return load_settings(**{name: getattr(settings, name) for name in Settings.model_fields} | names)


def _field(variable: str) -> str:
    name = variable.removeprefix("KB_").lower()
    if variable == f"KB_{name}".upper() and name in CHANGEABLE:
        return name
    names = [f"KB_{field}".upper() for field in Settings.model_fields]
    if variable in names:
        changeable = ", ".join(f"KB_{field}".upper() for field in CHANGEABLE)
        raise SettingsError(
            f"{variable} cannot be previewed: it does not decide what is made of an article; these do: {changeable}"
        )
    near = get_close_matches(variable.upper(), names, 3, 0.7)
    hint = f"did you mean {' or '.join(near)}?" if near else "docs/settings.md has all settings"
    raise SettingsError(f"{variable} is not a setting; {hint}")
