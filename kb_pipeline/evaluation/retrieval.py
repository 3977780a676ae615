"""Evaluates the search of a generation of the index. Each state of the knowledge base is evaluated once."""

import time
from collections.abc import Sequence

from kb_pipeline.evaluation.asking import ask, wordings
from kb_pipeline.evaluation.history import load_outcomes, load_run
from kb_pipeline.evaluation.measures import scores_of, with_values
from kb_pipeline.evaluation.provenance import code_hash, relevant_settings, run_of
from kb_pipeline.evaluation.questions import QuestionSet
from kb_pipeline.evaluation.records import Evaluation
from kb_pipeline.flow.workspace import Reader, Workspace
from kb_pipeline.models import open_embedder
from kb_pipeline.search.catalog import Generation


def evaluate(workspace: Workspace, generation: Generation, sets: Sequence[QuestionSet], at: str) -> Evaluation:
    """Ask a generation all questions, or load the evaluation from the history if nothing has changed since.

    The result is neither judged nor saved (see :mod:`kb_pipeline.evaluation.judging`).

    Raises:
        SearchError: the index cannot answer.
        ModelError: the questions cannot be embedded.
    """
    reader = reader_of(workspace, generation)
    settings = relevant_settings(workspace.settings, generation)
    indexed = reader.index.entries()
    run = run_of("retrieval", generation, indexed=indexed, sets=sets, settings=settings, code=code_hash(), at=at)
    if saved := load_run(workspace.settings, run.id):
        return Evaluation(saved.model_copy(update={"seen_at": at}), load_outcomes(workspace.settings, saved))
    started = time.perf_counter()
    outcomes = with_values([ask(reader, wording) for wording in wordings(sets)])
    seconds = round(time.perf_counter() - started, 3)
    return Evaluation(run.model_copy(update={"scores": scores_of(outcomes), "seconds": seconds}), outcomes)


def reader_of(workspace: Workspace, generation: Generation) -> Reader:
    """A reader of any generation, live or not."""
    is_own = generation.id == workspace.generation.id
    embedder = workspace.embedder if is_own else open_embedder(workspace.settings, generation.embedder)
    index = workspace.catalog.open(generation)
    return Reader(generation, index, embedder, workspace.deferred_titles, workspace.settings.mode)
