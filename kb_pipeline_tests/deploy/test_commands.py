"""What the containers start is understood by the programs of this release, option by option."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from dagster._cli import create_dagster_cli
from dagster._daemon.cli import create_dagster_daemon_cli
from dagster_webserver.cli import create_dagster_webserver_cli

from kb_pipeline_tests.deploy.bicep import parse
from kb_pipeline_tests.deploy.files import DOCKERFILES, INFRA, ROOT

PROGRAMS = {
    "dagster": create_dagster_cli,
    "dagster-daemon": create_dagster_daemon_cli,
    "kb-webserver": create_dagster_webserver_cli,  # with whose options it is called
}


def commands() -> Iterator[tuple[str, list[str]]]:
    """Every command line of an image, a compose service or a container app, with where it stands."""
    for path in DOCKERFILES:
        yield path.stem, json.loads(path.read_text().rsplit("\nCMD ", 1)[1])
        yield f"{path.stem} health", json.loads(path.read_text().split("    CMD ", 1)[1].partition("\n")[0])
    for name, service in yaml.safe_load((ROOT / "compose.yaml").read_text())["services"].items():
        if "command" in service:
            yield f"compose {name}", service["command"]
        yield f"compose {name} health", service["healthcheck"]["test"][1:]
    for template in ("pipeline", "agent", "app"):
        variables: dict[str, Any] = parse(INFRA / f"{template}.bicep").variables
        for container in variables["containers"]:
            said = [word if isinstance(word, str) else variables[word.text] for word in container["command"]]
            yield f"Azure {container['name']}", said


OF_DAGSTER = [pytest.param(words, id=where) for where, words in commands() if words[0] in PROGRAMS]
OTHERS = {tuple(words[:3]) for _, words in commands() if words[0] not in PROGRAMS}


@pytest.mark.parametrize("words", OF_DAGSTER)
def test_dagster_understands_it(words: list[str], tmp_path: Path) -> None:
    workspace = ROOT / "deploy/postgres/workspace.yaml"  # the image has it elsewhere
    words = [str(workspace) if word == "/opt/dagster/workspace.yaml" else word for word in words]
    command: click.Command = PROGRAMS[words[0]]()
    arguments = words[1:]
    while isinstance(command, click.Group) and arguments and arguments[0] in command.commands:
        command, arguments = command.commands[arguments[0]], arguments[1:]
    command.make_context(words[0], arguments)  # refuses what it does not know


def test_dagsters_webserver_is_started_behind_our_guard_only() -> None:
    started = {where: words[0] for where, words in commands() if any("webserver" in word for word in words)}
    assert started == {"compose webserver": "kb-webserver", "Azure webserver": "kb-webserver"}
    guides = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "deploy").rglob("*.md")]
    assert [guide.name for guide in guides if re.search(r"^\s*dagster-webserver ", guide.read_text(), re.M)] == []


def test_in_the_image_dagsters_chart_starts_ours() -> None:
    """The chart's template runs ``dagster-webserver``, which its values cannot change."""
    image = (ROOT / "deploy/pipeline.Dockerfile").read_text()
    assert "&& ln -sf kb-webserver /opt/kb/bin/dagster-webserver\n" in image
    assert Path(sys.executable).with_name("kb-webserver").is_file()


def test_the_other_commands_are_ours_or_ask_a_port() -> None:
    assert {words[:3] for words in OTHERS if words[0] == "python" and words[1] == "-m"} == {
        ("python", "-m", "app"),
        ("python", "-m", "app.page"),
    }
    rest = {words for words in OTHERS if words[:2] != ("python", "-m")}
    assert {words[0] for words in rest} == {"python", "pg_isready"}
    for words in rest - {words for words in rest if words[0] == "pg_isready"}:
        assert words[:2] == ("python", "-c")
        compile(words[2], "<health check>", "exec")
