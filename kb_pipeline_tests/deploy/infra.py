"""The templates under ``infra/``, asked by the tests."""

import re
from typing import Any

import pytest

from kb_pipeline_tests.deploy.bicep import parse
from kb_pipeline_tests.deploy.files import INFRA, TEMPLATES

MAIN = INFRA / "main.bicep"
APPS = {name: INFRA / f"{name}.bicep" for name in ("pipeline", "agent", "app")}
each_file = pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
each_guarded = pytest.mark.parametrize("name", ["pipeline", "app"])
"""The apps behind Easy Auth."""
each_app = pytest.mark.parametrize("name", APPS)


def resource(file: str, kind: str) -> dict[str, Any]:
    """The body of the only resource of a type in a module."""
    (found,) = [one for one in parse(INFRA / f"modules/{file}.bicep").resources if one.type == f"Microsoft.{kind}"]
    return found.body


def environment(name: str) -> dict[str, Any]:
    """The variables that a template itself gives to its containers."""
    listed = APPS[name].read_text().partition("\nvar env = ")[2].partition("\n\n")[0]
    return {key: value.strip("'") for key, value in re.findall(r"\{ name: '(\w+)', value: (\S+) \}", listed)}


def grants() -> set[tuple[str, str, str]]:
    """Which resource, who, which role: as main.bicep hands them to the modules."""
    text = MAIN.read_text()
    found = set()
    for module in parse(MAIN).modules.values():
        access = module.body["params"].get("access")
        if access is None:
            continue
        body = re.search(rf"^module {module.symbol} .*?^}}", text, re.MULTILINE | re.DOTALL)
        assert body
        for who, role in re.findall(r"principalId: ([\w.]+), principalType: \S+ roleId: roles\.(\w+)", body[0]):
            found.add((module.symbol, re.sub(r"identities\.outputs\.|\.principalId|\.outputs", "", who), role))
    return found
