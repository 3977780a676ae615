"""What an evaluation was made with: which code, and which of the settings matter."""

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
    *("steps", "models", "search", "records.py", "workspace.py"),
    *("evaluation/asking.py", "evaluation/matching.py", "evaluation/measures.py", "evaluation/questions.py"),
)
"""The code that decides what is found, and what of it counts."""


@cache
def code_hash(parts: tuple[str, ...] = SEARCHING, package: Path = _PACKAGE) -> str:
    """Hash of our own code, of files and folders below a package: it changes with every edit, committed or not."""
    places = [package / part for part in parts]
    files = [file for place in places for file in (sorted(place.rglob("*.py")) if place.is_dir() else [place])]
    return fingerprint([(file.relative_to(package).as_posix(), sha256(file.read_bytes())) for file in files])[:16]


@cache
def commit() -> str:
    """The commit of the checkout, with a ``+`` if files were changed since; of an installed package its version."""
    if not (_PACKAGE.parent / ".git").exists():
        return _version()
    asked = ("describe", "--always", "--abbrev=12", "--match=", "--dirty=+")
    try:
        told = subprocess.run(
            ["git", "-C", str(_PACKAGE), *asked], capture_output=True, text=True, timeout=10, check=True
        )
        return told.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return _version()


def _version() -> str:
    try:
        return version("kb-pipeline")
    except PackageNotFoundError:
        return ""


def telling_settings(settings: Settings, generation: Generation) -> dict[str, str]:
    """What of the settings decides about what is found; of how the index was made, the generation tells."""
    told = {
        "embedder": generation.embedder,
        "embedding_model": generation.embedding_model,
        "chunker": generation.chunker,
        "word_vectors": generation.word_vectors,
        "index": settings.index,
    }
    if settings.index == "azure-ai-search":
        told["semantic"] = str(settings.search_semantic)
        told["quantization"] = str(settings.search_quantization)
        told["vectorizer"] = str(settings.search_vectorizer)
    return told


def run_of(
    kind: Kind,
    generation: Generation,
    indexed: Mapping[str, Mapping[str, str]],
    sets: Sequence[QuestionSet],
    settings: dict[str, str],
    code: str,
    at: str,
) -> EvaluationRun:
    """A run as it is before anything is asked, with the id of all that could change what comes out.

    ``indexed`` are the index's entries, ``settings`` and ``code`` those that matter.
    """
    content = fingerprint(indexed)[:16]
    state = (generation.id, content, commit(), code, settings, [(each.name, each.sha256) for each in sets])
    wanted = {name for each in sets for question in each.questions for name in question.right_articles}
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
        question_sets=tuple(
            AskedSet(name=each.name, sha256=each.sha256, questions=len(each.questions)) for each in sets
        ),
        scores={},
        unknown_articles=tuple(sorted(wanted - indexed.keys())),
    )
