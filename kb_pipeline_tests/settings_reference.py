"""The reference of all settings, from the settings classes and ``.env.example``.

``python -m kb_pipeline_tests.settings_reference`` writes ``docs/settings.md``. Names, defaults and descriptions come
from the classes; groups, their order and their introductions from ``.env.example``.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from pydantic.fields import FieldInfo

from app.settings import AppSettings
from kb_pipeline.settings import Settings

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / ".env.example"
REFERENCE = ROOT / "docs" / "settings.md"
FIELDS: dict[str, FieldInfo] = {
    f"KB_{name}".upper(): field for model in (Settings, AppSettings) for name, field in model.model_fields.items()
}

BEGINNING = """\
# Settings

Every setting is an environment variable. You can also write it into a file `.env` in the folder where you run commands;
[.env.example](../.env.example) has all of them with examples. The environment wins over `.env`.

- A wrong value ends the command with exit code 2 and a message that names the variable. `kb check` asks every
  configured folder and service whether it can be used.
- Keys, tokens and passwords go into the settings made for them, never into an address: an address that holds one
  is refused. `KB_HOME` is readable by its owner only. See [SECURITY.md](../SECURITY.md).
- [On Azure](azure.md#which-setting-for-which-service) says which settings belong to which service.
- Dagster itself is configured in [dagster.yaml](../dagster.yaml) and [workspace.yaml](../workspace.yaml).

This page is written by `make settings` from the code; do not edit it.
"""


def reference() -> str:
    """``docs/settings.md``."""
    return "\n".join([BEGINNING, *(line for group in _groups() for line in _section(group))])


def _groups() -> Iterator[str]:
    """The parts of ``.env.example`` that hold settings, each beginning with its title."""
    for group in EXAMPLE.read_text().split("# ---- ")[1:]:
        if _names(group):
            yield group


def _names(group: str) -> list[str]:
    return re.findall(r"^# (KB_\w+)=", group, re.MULTILINE)


def _section(group: str) -> Iterator[str]:
    title, _, body = group.partition("\n\n")
    introduction = body.partition("\n\n")[0]
    yield f"## {title}\n"
    if "\n# KB_" not in introduction:
        yield _as_markdown(" ".join(line.removeprefix("# ") for line in introduction.splitlines())) + "\n"
    yield "| variable | default | description |\n|---|---|---|"
    for name in _names(group):
        yield f"| `{name}` | {_default(FIELDS[name])} | {FIELDS[name].description} |"
    yield ""


def _default(field: FieldInfo) -> str:
    if field.default in (None, ()):
        return ""
    return f"`{field.default if isinstance(field.default, str) else json.dumps(field.default)}`"


def _as_markdown(text: str) -> str:
    """The text with names of settings as code."""
    return re.sub(r"\bKB_\w+(=[\w/-]+)?", r"`\g<0>`", text)


if __name__ == "__main__":
    REFERENCE.write_text(reference())
