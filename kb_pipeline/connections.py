"""Whether the settings lead anywhere: each backend is asked once for the least it can do.

Not here: whether what it holds is good (``verification``, ``index_state``).
"""

import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.storage import read_bytes, remove_file, write_bytes
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class Connection:
    """One backend: ``found`` says what was there, or ``problem`` what is wrong and which setting to look at."""

    role: str
    name: str
    found: str
    problem: str
    seconds: float


def check_connections(workspace: Workspace) -> Iterator[Connection]:
    """Ask staging, serving, analyzer, embedder and index in turn; one's failure does not keep others from being asked.

    A service that bills is asked for a page, an image or a text of a few words. What is written is removed again.
    """
    settings = workspace.settings
    checks: dict[str, tuple[str, Callable[[Workspace], str]]] = {
        "staging": (settings.staging, _staging),
        "serving": (str(workspace.layout.serving_root), _serving),
        "analyzer": (settings.analyzer, _analyzer),
        "embedder": (settings.embedder, _embedder),
        "index": (settings.index, _index),
    }
    for role, (name, check) in checks.items():
        yield asked(role, name, partial(check, workspace))


def asked(role: str, name: str, check: Callable[[], str]) -> Connection:
    """What came of asking a backend: what ``check`` says it found, or why it could not."""
    started = time.perf_counter()
    found = problem = ""
    try:
        found = check()
    except KnowledgeBaseError as exc:
        problem = str(exc)
    return Connection(role, name, found, problem, round(time.perf_counter() - started, 2))


def _staging(workspace: Workspace) -> str:
    listing = workspace.staging.list_articles()
    refused = f", {len(listing.refused)} folders that are none" if listing.refused else ""
    return f"{len(listing.article_ids)} articles{refused}"


def _serving(workspace: Workspace) -> str:
    probe = workspace.layout.serving_root / f".check-{uuid.uuid4().hex}"
    data = b"written and removed by kb check\n"
    write_bytes(probe, data)
    try:
        same = read_bytes(probe) == data
    finally:
        remove_file(probe)
    if not same:
        raise KnowledgeBaseError(f"{probe} was written and read back as something else; check KB_SERVING")
    return "can be written and read"


def _analyzer(workspace: Workspace) -> str:
    return workspace.analyzer.check()


def _embedder(workspace: Workspace) -> str:
    embedder = workspace.embedder
    embedder.embed(["Is anybody there?"])
    return f"{embedder.model_id}, {embedder.dimensions} dimensions"


def _index(workspace: Workspace) -> str:
    live = workspace.catalog.live()
    if live is None:
        workspace.catalog.generations()  # at a wrong address there is nothing live either
        return "reached; nothing is published yet"
    count = workspace.catalog.open(live.generation).count()
    return f"generation {live.generation.id} is live, {count} entries"
