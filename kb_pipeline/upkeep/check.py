"""Checks the settings: sends each backend the smallest possible request.

Whether the contents of a backend are right is checked by :mod:`kb_pipeline.upkeep.verify` and
:mod:`kb_pipeline.flow.index_state`.
"""

import asyncio
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kb_pipeline.contributions import open_queue
from kb_pipeline.errors import IndexMissingError, KnowledgeBaseError, StorageError
from kb_pipeline.flow.build import check_names
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.opening import configured_scenario, loaded_version, open_store
from kb_pipeline.network.scenario import list_scenarios
from kb_pipeline.network.sql_names import sql_name
from kb_pipeline.settings import Settings
from kb_pipeline.steps.checks import CHECKS
from kb_pipeline.store.files import read_bytes, remove_file, write_bytes
from kb_pipeline.store.home import exposure
from kb_pipeline.store.state import load_states
from kb_pipeline.upkeep.status import NO_ARTICLES
from kb_pipeline.wording import counted

_PDF_WORDS = "Is anybody there?"
_PDF = f"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 50]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 47>>stream
BT /F 12 Tf 10 20 Td ({_PDF_WORDS}) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
"""


@dataclass(frozen=True)
class Connection:
    """The result of checking one backend: ``found`` describes it, or ``problem`` says what is wrong and what to do."""

    role: str
    name: str
    found: str
    problem: str
    seconds: float


def check_connections(workspace: Workspace) -> Iterator[Connection]:
    """Check names of checks, staging, serving, the reader of PDFs, analyzer, embedder, index, home, access lists, the
    queue of contributions and the audit log in turn, even after one has failed; at last the index of documents beside
    that of another program, and a network in Azure Cosmos DB.

    A paid service gets a page, an image or a text of a few words. Files that are written are removed again.
    """
    settings = workspace.settings
    checks: dict[str, tuple[str, Callable[[Workspace], str]]] = {
        "checks": (", ".join(settings.advisory_checks) or "all of them block", _checks),
        "staging": (settings.staging, _staging),
        "serving": (str(workspace.layout.serving_root), _serving),
        "PDF": ("pdf", _pdf),
        "analyzer": (settings.analyzer, _analyzer),
        "embedder": (settings.embedder, _embedder),
        "index": (settings.index, _index),
        "home": (settings.home, _home),
        "access lists": ("access_control_list", _access_lists),
        "contributions": (settings.contributions, _contributions),
        "audit": (settings.audit, lambda workspace: workspace.audit.check()),
    }
    if settings.index == "azure-ai-search" and (documents := settings.search_documents_index):
        checks["documents"] = (documents, _documents)
    if settings.network == "cosmosdb":
        checks["network"] = (settings.network, _network)
    for role, (name, check) in checks.items():
        yield check_backend(role, name, partial(check, workspace))


def check_backend(role: str, name: str, check: Callable[[], str]) -> Connection:
    """Call ``check``, which describes the backend, and time it."""
    started = time.perf_counter()
    found = problem = ""
    try:
        found = check()
    except KnowledgeBaseError as exc:
        problem = str(exc)
    except Exception as exc:  # a plug-in may raise anything, and the other backends are still to be checked
        problem = f"unexpected {type(exc).__name__}: {exc}"
    return Connection(role, name, found, problem, round(time.perf_counter() - started, 2))


def _checks(workspace: Workspace) -> str:
    check_names(workspace.settings)
    return f"{len(CHECKS)} checks"


def _staging(workspace: Workspace) -> str:
    listing = workspace.staging.list_articles()
    refused = f", {counted(len(listing.refused), *NO_ARTICLES)}" if listing.refused else ""
    return f"{counted(len(listing.article_ids), 'article')}{refused}"


def _serving(workspace: Workspace) -> str:
    probe = workspace.layout.serving_root / f".check-{uuid.uuid4().hex}"
    data = b"written and removed by kb check\n"
    write_bytes(probe, data)
    try:
        is_same = read_bytes(probe) == data
    finally:
        remove_file(probe)
    if not is_same:
        raise KnowledgeBaseError(f"{probe} was written and read back as something else; check KB_SERVING")
    return "can be written and read"


def _pdf(workspace: Workspace) -> str:
    source = workspace.source_of("kb-check", "pdf", by_ocr=False)
    read = source.read("kb-check", "kb-check.pdf", _PDF.encode())
    if _PDF_WORDS not in read.html:
        raise KnowledgeBaseError(f"{source.version} reads no words of a PDF; install the package's requirements again")
    return f"{source.version} reads a page"


def _analyzer(workspace: Workspace) -> str:
    return workspace.analyzer.check()


def _embedder(workspace: Workspace) -> str:
    embedder = workspace.embedder
    embedder.embed(["Is anybody there?"])
    return f"{embedder.model_id}, {embedder.dimensions} dimensions"


def _index(workspace: Workspace) -> str:
    live = workspace.catalog.live()
    if live is None:
        workspace.catalog.generations()  # fails at a wrong address, where live() only returns None
        if published := sum(bool(state.published) for state in load_states(workspace.layout)):
            lost = counted(published, "article that is published", "articles that are published")
            raise IndexMissingError(f"there is no search index, and so none of {lost}; run: kb reconcile")
        return "reached; nothing is published yet"
    index = workspace.catalog.open(live.generation)
    index.inspect()
    count = index.count_of("text")
    open_to_all = " and ".join(index.without_access_lists)
    remark = f"; without access lists, everybody may see everything in {open_to_all}" if open_to_all else ""
    return f"generation {live.generation.id} is live, {count} entries{remark}"


def _documents(workspace: Workspace) -> str:
    """List the documents of an index that another program fills, which it knows apart from their blocks."""
    live = workspace.catalog.live()
    assert live is not None  # another program fills it
    listed = workspace.catalog.open(live.generation).documents(limit=1)
    return counted(listed.total, "document")


def _network(workspace: Workspace) -> str:
    """Of each scenario that is loaded, look up the version that is served, and read a row of each container."""
    settings = workspace.settings
    names = [each for each in list_scenarios(Path(settings.scenarios)) if loaded_version(settings, each)]
    # without one, or without one that is loaded, opening the default says what to do
    return "; ".join(_scenario_read(settings, name) for name in names or [settings.scenario or ""])


def _scenario_read(settings: Settings, name: str) -> str:
    folder = configured_scenario(settings, name)
    store = open_store(settings, folder)

    async def asked() -> str:
        try:
            health = await store.health()
            for container in folder.scenario.telemetry:
                await store.telemetry(f"SELECT * FROM {sql_name(container)} LIMIT 1", QueryLimits())  # noqa: S608
        finally:
            await store.close()
        return f"{health.scenario} {health.version}, {health.vertices} vertices, {health.edges} edges"

    return asyncio.run(asked())


def _access_lists(workspace: Workspace) -> str:
    access = workspace.access
    if hidden := access.problems():
        raise StorageError("; ".join(f"{article_id} is hidden: {problem}" for article_id, problem in hidden.items()))
    return f"{counted(len(access.all()), 'article has', 'articles have')} or had one"


def _contributions(workspace: Workspace) -> str:
    read = open_queue(workspace.settings).read_all()
    if read.damages:
        raise StorageError("; ".join(read.damages))
    waiting = len(read.of("pending"))
    return f"{counted(waiting, 'contribution waits', 'contributions wait')} for a reviewer"


def _home(workspace: Workspace) -> str:
    home = workspace.settings.home_path
    try:
        problem = exposure(home)
    except OSError as exc:
        raise StorageError(f"{home} cannot be read ({exc.strerror}); check KB_HOME") from exc
    if problem:
        raise StorageError(problem)
    return "closed to other users"
