"""The direction of imports is part of the design: left of the arrow never imports what is right of it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SHARED = {"addresses", "azure_policies", "errors", "records", "settings", "metering", "services"}
ALLOWED = {
    "steps": {"errors", "records", "steps"},
    "models": SHARED | {"steps", "models", "plugins"},
    "analyzers": SHARED | {"steps", "models", "analyzers", "plugins"},
    "search": SHARED | {"steps", "search", "plugins"},
}
CLOUD = {
    "azure.ai.agentserver": ("app/api/", "app/conversations/"),
    "azure.cosmos": ("app/conversations/cosmos",),
    "azure.ai.contentunderstanding": ("kb_pipeline/analyzers/content_understanding",),
    "azure.core": (
        *("app/conversations/cosmos", "kb_pipeline/services.py", "kb_pipeline/azure_policies.py", "kb_pipeline/blob"),
        *("kb_pipeline/search/azure_", "kb_pipeline/analyzers/"),
    ),
    "azure.identity": ("app/conversations/cosmos", "kb_pipeline/services.py"),
    "azure.monitor": ("app/telemetry.py",),
    "azure.search": ("kb_pipeline/search/azure_",),
    "azure.storage": ("kb_pipeline/blob",),
    "mistralai": ("kb_pipeline/analyzers/mistral",),
    "openai": ("app/answering/", "app/client", "kb_pipeline/models/openai_"),
}
"""Where an SDK of a cloud may be known."""


def imports(path: Path) -> Iterator[str]:
    """Full names of everything that a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_what_is_left_of_it(room: str) -> None:
    for path in sources(f"kb_pipeline/{room}"):
        ours = {name.split(".")[1] for name in imports(path) if name.startswith("kb_pipeline.")}
        assert ours <= ALLOWED[room], path


def test_only_defs_and_the_commands_that_start_it_know_dagster() -> None:
    knowing = {
        path.relative_to(ROOT).as_posix()
        for path in sources("kb_pipeline", "app")
        if any(name.split(".")[0].startswith("dagster") for name in imports(path))
    }
    outside = {path for path in knowing if not path.startswith("kb_pipeline/defs/")}
    assert outside == {"kb_pipeline/definitions.py", "kb_pipeline/cli/run_job.py"}


def test_evaluation_knows_neither_dagster_nor_the_commands() -> None:
    for path in sources("kb_pipeline/evaluation"):
        assert not {"defs", "cli"} & {name.split(".")[1] for name in imports(path) if name.startswith("kb_pipeline.")}


def test_what_answers_is_known_only_to_the_commands_and_to_what_measures_it() -> None:
    for path in sources("kb_pipeline"):
        if any(name.split(".")[0] == "app" for name in imports(path)):
            name = path.relative_to(ROOT).as_posix()
            assert name.startswith("kb_pipeline/cli/") or name == "kb_pipeline/defs/evaluation.py", name


def test_pure_steps_touch_neither_files_nor_network_nor_clock() -> None:
    impure = {"os", "io.open", "pathlib.Path", "time", "datetime", "requests", "urllib.request", "socket", "subprocess"}
    for path in sources("kb_pipeline/steps"):
        assert not impure & set(imports(path)), path


def test_a_cloud_sdk_is_known_only_where_it_is_adapted() -> None:
    for path in sources("kb_pipeline", "app"):
        name = path.relative_to(ROOT).as_posix()
        for imported in imports(path):
            if imported.split(".")[0] in {"azure", "openai", "mistralai", "torch"}:
                places = [place for sdk, known in CLOUD.items() if imported.startswith(sdk) for place in known]
                assert name.startswith(tuple(places)), f"{name} imports {imported}"


def test_grounding_is_pure_and_knows_only_what_is_left_of_it() -> None:
    for path in sources("app/grounding"):
        ours = {".".join(name.split(".")[:2]) for name in imports(path) if name.split(".")[0] in ("app", "kb_pipeline")}
        assert ours <= {"app.grounding", "app.schema", "kb_pipeline.records", "kb_pipeline.steps"}, path
        assert not {"os", "time", "datetime", "requests", "httpx", "socket", "subprocess"} & set(imports(path)), path


PAGE = {
    *("app.page", "app.client", "app.schema", "app.settings", "app.principal", "app.grounding", "app.loopback"),
    *("kb_pipeline.errors", "kb_pipeline.records", "kb_pipeline.settings", "kb_pipeline.steps"),
}


def test_the_page_knows_the_service_only_through_its_client() -> None:
    for path in sources("app/page"):
        ours = {".".join(name.split(".")[:2]) for name in imports(path) if name.split(".")[0] in ("app", "kb_pipeline")}
        assert ours <= PAGE, path
