"""What a generation of the index finds for known questions: asked once for each state of it."""

import time
from collections.abc import Sequence

from kb_pipeline.evaluation.asking import ask, wordings
from kb_pipeline.evaluation.history import load_outcomes, load_run
from kb_pipeline.evaluation.measures import scores_of, with_values
from kb_pipeline.evaluation.provenance import code_hash, run_of, telling_settings
from kb_pipeline.evaluation.questions import QuestionSet
from kb_pipeline.evaluation.records import Evaluation
from kb_pipeline.models import open_embedder
from kb_pipeline.search.catalog import Generation
from kb_pipeline.workspace import Reader, Workspace


def evaluate(workspace: Workspace, generation: Generation, sets: Sequence[QuestionSet], at: str) -> Evaluation:
    """What a generation finds for all questions; what is in the history already is not asked again.

    Nothing is written, and nothing decided: see :mod:`kb_pipeline.evaluation.judging`.

    Raises:
        SearchError: the index cannot answer.
        ModelError: the questions cannot be embedded.
    """
    reader = reader_of(workspace, generation)
    told = telling_settings(workspace.settings, generation)
    run = run_of("retrieval", generation, reader.index.entries(), sets, told, code_hash(), at)
    if known := load_run(workspace.settings, run.id):
        return Evaluation(known.model_copy(update={"seen_at": at}), load_outcomes(workspace.settings, known))
    started = time.perf_counter()
    outcomes = with_values([ask(reader, wording) for wording in wordings(sets)])
    seconds = round(time.perf_counter() - started, 3)
    return Evaluation(run.model_copy(update={"scores": scores_of(outcomes), "seconds": seconds}), outcomes)


def reader_of(workspace: Workspace, generation: Generation) -> Reader:
    """What searches a generation, whether or not it is the one that readers use."""
    own = generation.id == workspace.generation.id
    embedder = workspace.embedder if own else open_embedder(workspace.settings, generation.embedder)
    return Reader(generation, workspace.catalog.open(generation), embedder)
