"""The provenance of an evaluation: the code and the settings that decide its results."""

import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from kb_pipeline.evaluation.questions import QuestionSet
from kb_pipeline.evaluation.records import AskedSet, EvaluationRun, Kind
from kb_pipeline.search.catalog import Generation
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint, sha256

_PACKAGE = Path(__file__).parents[1]
SEARCHING = (
    *("steps", "models", "search", "records.py", "flow/workspace.py"),
    *("evaluation/asking.py", "evaluation/matching.py", "evaluation/measures.py", "evaluation/questions.py"),
)
"""The code that decides the results of a search, and how they are measured."""


@cache
def code_hash(parts: tuple[str, ...] = SEARCHING, package: Path = _PACKAGE) -> str:
    """Hash of the code in these files and folders of a package; it changes with every edit, committed or not.

    Raises:
        FileNotFoundError: a file or folder holds no code, as after a move.
    """
    hashed = []
    for part in parts:
        path = package / part
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        if not files:
            raise FileNotFoundError(f"{path} holds no code to hash")
        hashed += [(file.relative_to(package).as_posix(), sha256(file.read_bytes())) for file in files]
    return fingerprint(hashed)[:16]


@cache
def commit() -> str:
    """The commit of the checkout, with a ``+`` if files have changed since; for an installed package its version."""
    if not (_PACKAGE.parent / ".git").exists():
        return _version()
    arguments = ("describe", "--always", "--abbrev=12", "--match=", "--dirty=+")
    try:
        described = subprocess.run(
            ["git", "-C", str(_PACKAGE), *arguments], capture_output=True, text=True, timeout=10, check=True
        )
        return described.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return _version()


def _version() -> str:
    try:
        return version("kb-pipeline")
    except PackageNotFoundError:
        return ""


def relevant_settings(settings: Settings, generation: Generation) -> dict[str, str]:
    """The settings, and properties of the generation, that decide the results of a search."""
    relevant = {
        "embedder": generation.embedder,
        "embedding_model": generation.embedding_model,
        "chunker": generation.chunker,
        "word_vectors": generation.word_vectors,
        "index": settings.index,
    }
    if settings.index == "azure-ai-search":
        relevant["semantic"] = str(settings.search_semantic)
        relevant["quantization"] = str(settings.search_quantization)
        relevant["vectorizer"] = str(settings.search_vectorizer)
    return relevant


def run_of(
    kind: Kind,
    generation: Generation,
    *,
    indexed: Mapping[str, Mapping[str, str]],
    sets: Sequence[QuestionSet],
    settings: dict[str, str],
    code: str,
    at: str,
) -> EvaluationRun:
    """A new run without scores. Its id is a hash of everything that could change its results.

    ``indexed`` are the entries of the index; ``settings`` and ``code`` only those that affect the results.
    """
    content = fingerprint(indexed)[:16]
    state = (generation.id, content, commit(), code, settings, [(one.name, one.sha256) for one in sets])
    expected = {name for one in sets for question in one.questions for name in question.right_articles}
    return EvaluationRun(
        id=f"{kind}-{fingerprint(*state)[:16]}",
        kind=kind,
        made_at=at,
        seen_at=at,
        generation=generation.id,
        content=content,
        commit=commit(),
        code=code,
        settings=settings,
        question_sets=tuple(AskedSet(name=one.name, sha256=one.sha256, questions=len(one.questions)) for one in sets),
        scores={},
        unknown_articles=tuple(sorted(expected - indexed.keys())),
    )
