"""What an ingest would have to do and cost, told before it is done: no model is called, nothing is written.

Time and money are the work, counted in calls, times what a call took on average so far, at today's prices.
Here: the report. Not here: how the work is counted (workload.py), why an article is stale (staleness.py).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from kb_pipeline.layers import LAYER_NAMES, Run
from kb_pipeline.layers.chunk_embeddings import ChunkEmbeddingsLayer
from kb_pipeline.layers.converted_markdown import ConvertedMarkdownLayer
from kb_pipeline.layers.image_descriptions import ImageDescriptionsLayer
from kb_pipeline.metering import priced, total
from kb_pipeline.records import Usage
from kb_pipeline.staleness import Stale, stale_articles
from kb_pipeline.state import load_state, load_states
from kb_pipeline.workload import Workload, is_made
from kb_pipeline.workspace import Workspace


@dataclass(frozen=True)
class ModelUse:
    """What one model would be used for in one layer; seconds or cost are ``None`` where ``unknown`` says why.

    ``seconds`` are those of one worker after the other; several work at once.
    """

    layer: str
    model: str
    units: int
    unit: str
    seconds: float | None
    cost: float | None
    unknown: str = ""


@dataclass(frozen=True)
class Estimate:
    """What an ingest would do.

    ``articles`` to build, by reason in ``reasons``; ``layers``: for how many of them a layer is made at most, because
    a result that is as before makes nothing anew after it. ``images`` are distinct and have no description yet,
    decorative ones included where ``images_are`` is "at most". ``texts`` (of so many ``tokens``) are to be embedded;
    ``texts_from`` says for how many articles they were counted from what. ``unreadable`` articles will fail.
    """

    articles: int
    up_to_date: int
    not_staged: tuple[str, ...]
    unreadable: tuple[str, ...]
    reasons: Mapping[str, int]
    layers: Mapping[str, int]
    images: int
    images_are: str
    texts: int
    tokens: int
    texts_from: Mapping[str, int]
    models: tuple[ModelUse, ...]

    @property
    def cost(self) -> float | None:
        """Money for all models, in the price table's currency; ``None`` where that of one is unknown."""
        costs = [use.cost for use in self.models if use.cost is not None]
        return round(sum(costs), 6) if len(costs) == len(self.models) else None

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        return {**asdict(self), "cost": self.cost}


def estimate(workspace: Workspace, article_ids: Sequence[str] | None, run: Run) -> Estimate:
    """What an ingest of these articles, or of everything that is stale, would have to do.

    Raises:
        KnowledgeBaseError: staging cannot be listed, or a backend cannot be opened.
    """
    staged = set(workspace.staging.list_articles().article_ids)
    asked = staged if article_ids is None else staged.intersection(article_ids)
    stale = [each for each in stale_articles(workspace, run) if each.article_id in asked]
    if article_ids is not None:
        stale += _tried_again(workspace, asked - {each.article_id for each in stale})
    work = Workload(workspace)
    for each in stale:
        work.add(each)
    layers = {name: sum(is_made(name, each) for each in stale) for name in LAYER_NAMES}
    return Estimate(
        articles=len(stale),
        up_to_date=len(asked) - len(stale),
        not_staged=tuple(sorted({*(article_ids or ())} - staged)),
        unreadable=tuple(work.unreadable),
        reasons=dict(Counter(each.reason for each in stale).most_common()),
        layers=layers,
        images=len(work.images),
        images_are="at most" if work.images_at_most else "exactly",
        texts=work.texts,
        tokens=work.tokens,
        texts_from=dict(work.texts_from),
        models=_model_uses(workspace, layers[ConvertedMarkdownLayer.name], work),
    )


def _tried_again(workspace: Workspace, article_ids: Collection[str]) -> list[Stale]:
    """Articles that failed for good are only tried again when they are asked for by name."""
    states = [load_state(workspace.layout, article_id) for article_id in sorted(article_ids)]
    failing = [(state.article_id, state.failure) for state in states if state.failure]
    return [Stale(article_id, failure.layer, "failed for good, tried again") for article_id, failure in failing]


def _model_uses(workspace: Workspace, conversions: int, work: Workload) -> tuple[ModelUse, ...]:
    history: dict[str, list[Usage]] = {}
    for state in load_states(workspace.layout):
        for layer, used in state.spent.items():
            history.setdefault(layer, []).extend(used)
    analyzer = workspace.analyzer
    wanted = (
        (ConvertedMarkdownLayer.name, analyzer.converter, conversions, "articles"),
        (ImageDescriptionsLayer.name, analyzer.image_model, len(work.images), "images"),
        (ChunkEmbeddingsLayer.name, workspace.embedder.model_id, work.texts, "texts"),
    )
    return tuple(
        _model_use(workspace, layer, model, units, unit, history.get(layer, ()), work.tokens)
        for layer, model, units, unit in wanted
        if units
    )


def _model_use(
    workspace: Workspace, layer: str, model: str, units: int, unit: str, history: Iterable[Usage], tokens: int
) -> ModelUse:
    # a provider names the release it answered with: gpt-4.1 is gpt-4.1-2025-04-14
    known = total(used for used in history if used.model == model or used.model.startswith(f"{model}-"))
    calls, embedded = sum(used.calls for used in known), sum(used.input_tokens for used in known)
    if not calls:
        unknown = f"{model} was not used yet; ingest a few articles, then estimate again"
        return ModelUse(layer, model, units, unit, None, None, unknown)
    # one call may embed many texts, so that tokens tell more where they are billed
    share = tokens / embedded if unit == "texts" and embedded else units / calls
    expected = priced([_scaled(used, share) for used in known], workspace.settings.prices)
    costs = [used.cost for used in expected if used.cost is not None]
    is_known = len(costs) == len(expected)
    return ModelUse(
        layer=layer,
        model=model,
        units=units,
        unit=unit,
        seconds=round(sum(used.seconds for used in expected), 1),
        cost=round(sum(costs), 6) if is_known else None,
        unknown="" if is_known else f"{model} has no price; set KB_PRICES",
    )


def _scaled(used: Usage, share: float) -> Usage:
    bills = used.cost != 0 and (used.calls or used.input_tokens or used.output_tokens or used.pages)
    return Usage(
        model=used.model,
        calls=round(used.calls * share),
        input_tokens=round(used.input_tokens * share),
        output_tokens=round(used.output_tokens * share),
        pages=round(used.pages * share),
        seconds=used.seconds * share,
        cost=None if bills else 0.0,
    )
