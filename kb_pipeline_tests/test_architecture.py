"""The direction of imports is part of the design: left of the arrow never imports what is right of it."""

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow("reads the whole source")

ROOT = Path(__file__).parents[1]
DOWNWARDS = (
    {"asking", "errors", "languages", "pasted", "personal", "records", "secrets", "wording"},
    {"steps"},
    {"limited", "plugins", "services", "settings", "sources", "telemetry", "web"},
    {"models", "network", "search", "store", "workers"},
    {"analyzers"},
    {"flow"},
    {"contributions", "intake"},
    {"evaluation"},
    {"upkeep"},
    {"application"},
    {"defs"},
    {"definitions"},
    {"cli"},
    {"__main__"},
)
"""The packages and modules of kb_pipeline: each imports only from the lines above its own, and from its own line."""
APP_DOWNWARDS = (
    {"errors", "logs", "schema"},
    {"language"},
    {"callers", "grounding", "settings"},
    {"library", "web"},
    {"model", "tools"},
    {"judging"},
    {"answering"},
    {"contributing", "conversations", "network"},
    {"client", "evaluating", "service"},
    {"api", "page"},
    {"application", "one_port"},
    {"__main__"},
)
"""The same for app."""
CLOUD = {
    "azure.ai.agentserver": ("app/api/", "app/conversations/", "app/__main__.py"),
    "azure.cosmos": ("app/conversations/cosmos", "kb_pipeline/network/cosmos/sql.py"),
    "azure.ai.contentunderstanding": ("kb_pipeline/analyzers/content_understanding",),
    "azure.core": (
        *(
            "app/conversations/cosmos",
            "kb_pipeline/services/service.py",
            "kb_pipeline/services/azure.py",
            "kb_pipeline/telemetry/outgoing.py",
            "kb_pipeline/store/",
        ),
        *("kb_pipeline/search/azure/", "kb_pipeline/analyzers/"),
    ),
    "azure.identity": ("app/conversations/cosmos", "kb_pipeline/services/service.py"),
    "azure.monitor": ("kb_pipeline/telemetry/providers.py",),
    "azure.search": ("kb_pipeline/search/azure/",),
    "azure.storage": ("kb_pipeline/store/",),
    "mistralai": ("kb_pipeline/analyzers/mistral",),
    "openai": ("app/model/", "app/client", "kb_pipeline/models/openai_"),
}
"""Where an SDK of a cloud may be known."""


@cache
def read(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def imports(path: Path) -> list[str]:
    """Full names of everything that a file imports, also inside functions."""
    names: list[str] = []
    for node in ast.walk(read(path)):
        if isinstance(node, ast.Import):
            names += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names += (f"{node.module}.{alias.name}" for alias in node.names)
    return names


def sources(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def dependencies(*folders: str) -> dict[str, set[str]]:
    """What each of our modules imports of ours, also inside functions."""
    paths = {path.relative_to(ROOT).with_suffix("").as_posix(): path for path in sources(*folders)}
    modules = {name.replace("/", ".").removesuffix(".__init__"): path for name, path in paths.items()}
    graph = {}
    for module, path in modules.items():
        imported = {name if name in modules else name.rpartition(".")[0] for name in imports(path)}
        graph[module] = imported & modules.keys() - {module}
    return graph


@pytest.mark.parametrize(("package", "downwards"), [("kb_pipeline", DOWNWARDS), ("app", APP_DOWNWARDS)])
def test_imports_run_downwards_only(package: str, downwards: Sequence[set[str]]) -> None:
    floor = {room: number for number, rooms in enumerate(downwards) for room in rooms}
    for module, imported in dependencies(package).items():
        if module == package:  # opens the whole for programs, when it is called
            continue
        for room in {name.split(".")[1] for name in imported if name != package}:
            assert floor[room] <= floor[module.split(".")[1]], f"{module} imports {room}"


def test_no_file_imports_another_that_imports_it() -> None:
    graph = dependencies("kb_pipeline", "app")
    TopologicalSorter(graph).prepare()  # raises CycleError


def test_only_defs_and_the_commands_that_start_it_know_dagster() -> None:
    knowing = {
        path.relative_to(ROOT).as_posix()
        for path in sources("kb_pipeline", "app")
        if any(name.split(".")[0].startswith("dagster") for name in imports(path))
    }
    outside = {path for path in knowing if not path.startswith("kb_pipeline/defs/")}
    assert outside == {"kb_pipeline/definitions.py", "kb_pipeline/cli/webserver.py", "kb_pipeline/cli/run_job.py"}


def test_what_is_private_in_dagster_is_named_in_one_file() -> None:
    private = {
        path.relative_to(ROOT).as_posix()
        for path in sources("kb_pipeline", "app")
        if any(name.startswith("dagster._") for name in imports(path))
    }
    assert private == {"kb_pipeline/defs/dagster_internals.py"}


def calls_on_import(path: Path) -> Iterator[str]:
    """Names of the functions that importing a file calls, decorators and defaults of parameters included."""
    pending: list[ast.AST] = [read(path)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            pending += [*decorators, *node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            pending += ast.iter_child_nodes(node)


def test_importing_reads_no_settings_and_opens_no_backend() -> None:
    for path in sources("kb_pipeline", "app"):
        opening = [name for name in calls_on_import(path) if name.startswith(("load_", "open_"))]
        assert not opening or path.name == "__main__.py", f"{path} calls {opening}"


def test_evaluation_knows_neither_dagster_nor_the_commands() -> None:
    for path in sources("kb_pipeline/evaluation"):
        assert not {"defs", "cli"} & {name.split(".")[1] for name in imports(path) if name.startswith("kb_pipeline.")}


def test_nothing_in_kb_pipeline_imports_the_application() -> None:
    for path in sources("kb_pipeline"):
        assert not any(name.split(".")[0] == "app" for name in imports(path)), path


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


def test_markdown_parsers_are_set_up_in_one_place() -> None:
    setting_up = {
        path.relative_to(ROOT).as_posix()
        for path in sources("kb_pipeline", "app")
        if "markdown_it.MarkdownIt" in imports(path)
    }
    assert setting_up == {"kb_pipeline/steps/markdown_parsers.py", "app/page/markup.py"}  # the page adds a rule


def test_pdfium_is_known_only_where_files_are_read_and_drawn_in_processes_that_can_be_killed() -> None:
    for path in sources("kb_pipeline", "app"):
        name = path.relative_to(ROOT).as_posix()
        if any(imported.split(".")[0] == "pypdfium2" for imported in imports(path)):
            assert name.startswith("kb_pipeline/sources/pdf/") or name == "app/library/originals/drawing.py", name


def test_grounding_is_pure_and_knows_only_what_is_left_of_it() -> None:
    for path in sources("app/grounding"):
        ours = {".".join(name.split(".")[:2]) for name in imports(path) if name.split(".")[0] in ("app", "kb_pipeline")}
        known = {f"kb_pipeline.{room}" for room in ("languages", "records", "steps", "wording")}
        assert ours <= {"app.grounding", "app.judging", "app.language", "app.schema", *known}, path
        assert not {"os", "time", "datetime", "requests", "httpx", "socket", "subprocess"} & set(imports(path)), path


def test_planning_is_pure_but_for_what_follows_a_plan() -> None:
    allowed = ("app.answering.planning", "app.grounding", "app.language", "app.schema", "kb_pipeline.records")
    allowed += ("kb_pipeline.steps.values",)
    for path in sources("app/answering/planning"):
        if path.name in ("answerer.py", "document_answers.py", "plans.py"):
            continue
        ours = [name for name in imports(path) if name.split(".")[0] in ("app", "kb_pipeline")]
        assert all(name.startswith((*allowed, "kb_pipeline.search", "kb_pipeline.steps.formats")) for name in ours), (
            path
        )
        assert not {"os", "time", "asyncio", "requests", "httpx", "socket", "subprocess"} & set(imports(path)), path


def test_diagnosis_is_pure_but_for_what_reads_the_store_and_the_documents() -> None:
    allowed = {"app.network", "app.schema", *(f"kb_pipeline.{room}" for room in ("network", "errors", "wording"))}
    impure = ("by_rules.py", "by_agents.py", "specialists.py", "documents.py", "knowledge.py", "opening.py")
    impure += ("networks.py", "queries.py", "reading.py", "records.py", "running.py", "served.py", "tools.py")
    for path in sources("app/network"):
        if path.name in impure or path.parent.name == "prompts":
            continue
        ours = {".".join(name.split(".")[:2]) for name in imports(path) if name.split(".")[0] in ("app", "kb_pipeline")}
        assert ours <= allowed, path
        assert not {"os", "time", "pathlib", "asyncio", "requests", "httpx", "socket", "duckdb"} & set(imports(path)), (
            path
        )


def test_nothing_knows_the_simulator_that_judges_it() -> None:
    for path in sources("kb_pipeline", "app"):
        assert not any(name.split(".")[0] == "benchmarks" for name in imports(path)), path


def test_the_diagnosis_does_not_know_the_incidents_that_measure_it() -> None:
    for path in sources("app/network", "app/api", "app/tools"):
        assert not {
            name for name in imports(path) if name.startswith(("kb_pipeline.network.incidents", "app.evaluating"))
        }, path


def test_duckdb_is_imported_only_where_it_is_used() -> None:
    for path in sources("kb_pipeline", "app"):
        if any(name.split(".")[0] == "duckdb" for name in imports(path)):
            name = path.relative_to(ROOT).as_posix()
            assert name in [f"kb_pipeline/network/local/{module}.py" for module in ("answers", "gate", "store")]
            body = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
            assert not any("duckdb" in ast.unparse(node) for node in body), path


def test_the_driver_of_gremlin_is_imported_only_where_it_is_used() -> None:
    for path in sources("kb_pipeline", "app"):
        if any(name.split(".")[0] == "gremlin_python" for name in imports(path)):
            assert path.relative_to(ROOT).as_posix() == "kb_pipeline/network/cosmos/gremlin.py"


def test_the_web_knows_only_what_it_searches_with() -> None:
    known = {"app.web", "app.settings", "app.language", *(f"kb_pipeline.{room}" for room in ("errors", "plugins"))}
    known |= {"kb_pipeline.services", "kb_pipeline.steps", "kb_pipeline.wording"}
    for path in sources("app/web"):
        ours = {".".join(name.split(".")[:2]) for name in imports(path) if name.split(".")[0] in ("app", "kb_pipeline")}
        assert ours <= known, path


def test_the_network_of_the_web_is_reached_through_its_guard() -> None:
    for path in sources("app/web", "kb_pipeline/services/web", "kb_pipeline/intake/website"):
        if path.name not in ("guard.py", "limited.py", "online.py", "client.py"):
            resolves = {"socket"} if path.name == "addresses.py" else set()
            found = {"httpx", "socket", "urllib.request"} & {name.split(".")[0] for name in imports(path)} - resolves
            assert not found, path


PAGE = {
    *("app.callers", "app.client", "app.grounding", "app.language", "app.logs", "app.page", "app.schema"),
    "app.settings",
    *("kb_pipeline.asking", "kb_pipeline.errors", "kb_pipeline.records", "kb_pipeline.settings"),
    *("kb_pipeline.steps", "kb_pipeline.web", "kb_pipeline.wording"),
}


def test_the_page_knows_the_service_only_through_its_client() -> None:
    for path in sources("app/page"):
        ours = {".".join(name.split(".")[:2]) for name in imports(path) if name.split(".")[0] in ("app", "kb_pipeline")}
        assert ours <= PAGE, path
