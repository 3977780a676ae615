"""A small knowledge base whose answers are known, and a model that makes its index worse."""

import atexit
import json
import shutil
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, QuestionOutcome, Ranked
from kb_pipeline.models.base import EmbeddedQuestion
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.doubles import OtherEmbedder

AT = "2026-01-01T05:00:00+00:00"
LATER = "2026-01-02T05:00:00+00:00"
OTHER = "kb_pipeline_tests.doubles:OtherEmbedder"
CONTRARY = "kb_pipeline_tests.evaluation.known:ContraryEmbedder"
THINGS = (
    "anchor basket candle drawer engine feather garden hammer island jacket "
    "kettle ladder magnet needle orange pencil quiver saddle teapot violin"
).split()


class ContraryEmbedder(OtherEmbedder):
    """Finds by meaning what has least to do with the question."""

    model_id = "contrary"

    def embed_question(self, text: str) -> EmbeddedQuestion:
        return EmbeddedQuestion(-super().embed_question(text).vector)


def publish_things(settings: Settings, embedder: str = "hashing") -> Settings:
    """An article about each thing is staged and published, and with another embedder in its generation as well.

    What they say differs in two words only. It is built once in a process and copied from then on.
    """
    shutil.copytree(_built(embedder), Path(settings.home).parent, dirs_exist_ok=True)
    return settings.model_copy(update={"embedder": embedder})


def lose(settings: Settings, things: Iterable[str]) -> None:
    """From now on, the articles about these things say nothing of them, in staging only."""
    for thing in things:
        _stage(settings, thing, f"<h1>{thing[::-1]}</h1><p>It was lost, and nobody knows where to.</p>")


@cache
def _built(embedder: str) -> Path:
    folder = Path(mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    settings = Settings(
        staging=str(folder / "staging"), home=str(folder / "home"), embedder=embedder, workers=1, chunk_min_tokens=4
    )
    if embedder != "hashing":
        shutil.copytree(_built("hashing"), folder, dirs_exist_ok=True)
    for thing in THINGS:
        _stage(settings, thing, f"<h1>The {thing}</h1><p>You find the {thing} in the room of the {thing}s.</p>")
    build_here(settings)
    return folder


def _stage(settings: Settings, article_id: str, html: str) -> None:
    folder = Path(settings.staging) / article_id
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(f"<body>{html}</body>")


def question(thing: str, **more: object) -> dict[str, object]:
    """A question as a line of a file has it."""
    asked = {"question": f"Where is the {thing}?", "article_id": thing, "answer_span": f"room of the {thing}s"}
    return asked | {"kind": "lookup"} | more


def write_questions(folder: Path, lines: Iterable[Mapping[str, object]], name: str = "things") -> Path:
    """A file of questions."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def ask_all(settings: Settings) -> None:
    """Give the knowledge base a question about each thing that words alone do not answer, and one that nothing does."""
    asked = [question(thing, question=f"Where is the {thing}like?") for thing in THINGS]
    write_questions(settings.evaluation_path, [*asked, {"question": "Who paints the moon?", "article_id": None}])


def outcome(number: int = 0, *, rank: int | None = 1, paraphrase: bool = False, **more: object) -> QuestionOutcome:
    """What came of a question whose right article stood at ``rank`` of three."""
    ranked = [f"other-{place}" for place in range(3)]
    if rank:
        ranked[rank - 1] = "right"
    found = tuple(Ranked(article_id=name, chunk_id=f"{name}-1", score=1.0) for name in ranked)
    told = {
        "question_id": f"q{number}",
        "question_set": "set",
        "asked": f"question {number}",
        "paraphrase": paraphrase,
        "kind": "lookup",
        "article_id": "right",
        "ranked": found,
        "article_rank": rank,
    }
    return QuestionOutcome.model_validate(told | more)


def run(number: int = 0, **more: object) -> EvaluationRun:
    """A run of the history."""
    told = {
        "id": f"retrieval-{number:016x}",
        "kind": "retrieval",
        "made_at": AT,
        "seen_at": AT,
        "generation": "g1",
        "content": "c",
        "question_sets": (),
        "scores": {},
    }
    return EvaluationRun.model_validate(told | more)


def evaluation(number: int, outcomes: Iterable[QuestionOutcome], **more: object) -> Evaluation:
    """A run with these outcomes."""
    return Evaluation(run(number, **more), tuple(outcomes))
