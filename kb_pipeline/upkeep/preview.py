"""Previews a change of settings: builds a sample of articles beside the live ones, and says what would be different.

What readers have stays as it is. What was paid for already is used; only what the change makes necessary in the sample
is converted, described and embedded anew, and kept for the full run. See :mod:`kb_pipeline.upkeep.preview_home`.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from kb_pipeline.errors import KnowledgeBaseError, SettingsError
from kb_pipeline.evaluation.asking import ask, wordings
from kb_pipeline.evaluation.comparison import Comparison, compare
from kb_pipeline.evaluation.measures import scores_of, with_values
from kb_pipeline.evaluation.provenance import run_of
from kb_pipeline.evaluation.questions import QuestionSet, question_sets
from kb_pipeline.evaluation.records import Evaluation, Scores
from kb_pipeline.flow.build import ArticleResult, build_articles
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import Reader, Workspace
from kb_pipeline.records import Usage, sections
from kb_pipeline.services.usage import total
from kb_pipeline.settings import Settings, load_settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.state import ArticleState, load_state, load_states
from kb_pipeline.upkeep.estimate import Estimate, estimate
from kb_pipeline.upkeep.preview_home import keep_paid, preview_home, seeded
from kb_pipeline.upkeep.verify import published_entries
from kb_pipeline.upkeep.versions import version_diff

SAMPLE = 20
"""Articles that are built unless told otherwise."""


@dataclass(frozen=True)
class SectionSizes:
    """The sections of an article: how many, and the characters of the middle and of the longest one."""

    count: int
    middle: int
    longest: int


@dataclass(frozen=True)
class PreviewedArticle:
    """What the change does to one article.

    Attributes:
        failure: why it would not be published; "" if it would.
        made: the layers that are made anew.
        diff: the published ``article.md`` against the new one, as ``kb diff`` shows it; "" if they are the same.
        before: the sections that readers have now; ``None`` if it is not published.
        after: the sections that they would have; ``None`` if it fails.
        described: images that were described anew.
        embedded: texts that were embedded anew.
    """

    article_id: str
    failure: str
    made: tuple[str, ...]
    diff: str
    before: SectionSizes | None
    after: SectionSizes | None
    described: int
    embedded: int


@dataclass(frozen=True)
class PreviewedScores:
    """The known questions of the sample, asked of the sample alone: as it is published, and as it would be."""

    questions: int
    before: Scores
    after: Scores
    comparison: Comparison


@dataclass(frozen=True)
class SettingsPreview:
    """What a change of settings would do.

    Attributes:
        changes: the variables with their new values.
        articles: the sample, in the order in which it was chosen.
        scores: how the known questions fare; ``None`` if ``no_scores`` says why.
        spent: what the models used for the sample, by layer.
        waiting: what the next ingest would do without the change.
        full: what it would then do with the change, in all articles.
    """

    changes: Mapping[str, str]
    articles: tuple[PreviewedArticle, ...]
    scores: PreviewedScores | None
    no_scores: str
    spent: Mapping[str, tuple[Usage, ...]]
    waiting: Estimate
    full: Estimate

    def as_dict(self) -> dict[str, Any]:
        """The preview as plain values, for JSON."""
        estimates = {"waiting": self.waiting.as_dict(), "full": self.full.as_dict()}
        return {
            "changes": dict(self.changes),
            "articles": [asdict(article) for article in self.articles],
            "scores": self.scores,
            "no_scores": self.no_scores,
            "spent": {layer: [used.model_dump() for used in usage] for layer, usage in self.spent.items()},
            **estimates,
        }


def preview(
    workspace: Workspace, changes: Mapping[str, str], article_ids: Sequence[str] = (), size: int = SAMPLE
) -> SettingsPreview:
    """Build these articles, or a sample of ``size``, with the changed settings, and compare them with the live ones.

    ``changes`` are variables (``KB_...``) with their values as text.

    Raises:
        SettingsError: a change is refused, an article is not staged, or a backend cannot be opened.
        KnowledgeBaseError: nothing can be built: a model cannot be loaded, or a folder cannot be read or written.
    """
    changed = changed_settings(workspace.settings, changes)
    _ = Workspace(changed).analyzer  # a wrong name fails here, before anything is copied
    sets = question_sets(workspace.settings)
    chosen = _chosen(workspace, article_ids) or _sample(workspace, sets, size)
    with preview_home(workspace) as folder:
        scratch = Workspace(seeded(workspace, changed, folder / "after", chosen))
        run = Run("preview", datetime.now(UTC).isoformat(timespec="seconds"))
        built = []
        for result in build_articles(scratch, chosen, LAYER_NAMES, run):
            keep_paid(workspace, scratch, result.article_id)  # at once, so that an interrupt loses nothing
            built.append(result)
        results = {result.article_id: result for result in publish(scratch, built, LAYER_NAMES, run)}
        articles = tuple(_previewed(workspace, scratch, results[article_id]) for article_id in chosen)
        good = [article.article_id for article in articles if not article.failure]
        scores, no_scores = _scores(workspace, scratch, folder / "before", good, sets)
        spent = _spent(scratch)
        # vectors that a service was paid for are kept
        left = {one.article_id: 0 if scratch.embedder.pool else one.embedded for one in articles if not one.failure}
    return SettingsPreview(
        changes=dict(changes),
        articles=articles,
        scores=scores,
        no_scores=no_scores,
        spent=spent,
        waiting=estimate(workspace, None),
        full=estimate(Workspace(changed), None, spent, left),
    )


def _chosen(workspace: Workspace, article_ids: Sequence[str]) -> list[str]:
    unknown = sorted(set(article_ids) - set(workspace.staging.list_articles().article_ids)) if article_ids else []
    if unknown:
        raise SettingsError(f"no article in {workspace.settings.staging}: {', '.join(unknown)}")
    return list(dict.fromkeys(article_ids))


def _sample(workspace: Workspace, sets: Sequence[QuestionSet], size: int) -> list[str]:
    """Published articles, always the same: those that known questions name come first, the others by a hash."""
    staged = set(workspace.staging.list_articles().article_ids)
    published = {state.article_id for state in load_states(workspace.layout) if state.published} & staged
    if not published:
        raise SettingsError("nothing was published yet that a preview could be compared with; run: kb ingest")
    articles = {name for one in sets for question in one.questions for name in question.right_articles}
    return sorted(published, key=lambda key: (key not in articles, sha256(key.encode())))[:size]


def _previewed(workspace: Workspace, scratch: Workspace, result: ArticleResult) -> PreviewedArticle:
    article_id = result.article_id
    before = load_state(workspace.layout, article_id).published_version or ""
    after = load_state(scratch.layout, article_id).published_version or ""
    made = {layer.name: layer for layer in result.layers if not layer.reused}
    counted = {
        name: int(str(made[layer].report.get(name, 0))) if layer in made else 0
        for layer, name in (("image_descriptions", "newly_described"), ("chunk_embeddings", "newly_embedded"))
    }
    failed = result.error is not None
    return PreviewedArticle(
        article_id=article_id,
        failure=result.error or "",
        made=tuple(name for name in made if name != "search_index"),
        diff="" if failed or before == after else version_diff(scratch.layout, article_id, before, after),
        before=_sections(workspace, article_id, before) if before else None,
        after=None if failed else _sections(scratch, article_id, after),
        described=counted["newly_described"],
        embedded=counted["newly_embedded"],
    )


def _sections(workspace: Workspace, article_id: str, version: str) -> SectionSizes | None:
    """The sections of a version; ``None`` if its files are damaged."""
    try:
        sizes = [len(chunk.content) for chunk in sections(load_chunks(workspace.layout, article_id, version))]
    except KnowledgeBaseError:
        return None
    return SectionSizes(len(sizes), round(statistics.median(sizes or [0])), max(sizes, default=0))


def _spent(scratch: Workspace) -> dict[str, tuple[Usage, ...]]:
    spent: dict[str, list[Usage]] = {}
    for state in load_states(scratch.layout):
        for layer, used in state.spent.items():
            spent.setdefault(layer, []).extend(used)
    return {layer: total(used) for layer, used in spent.items() if used}


def _scores(
    workspace: Workspace, scratch: Workspace, folder: Path, article_ids: Sequence[str], sets: Sequence[QuestionSet]
) -> tuple[PreviewedScores | None, str]:
    """The scores, or the reason why there are none. Both sides hold the same articles, so that ranks compare."""
    if not sets:
        evaluation = workspace.settings.evaluation_path
        return None, f"there are no known questions; put *.jsonl files into {evaluation} (docs/quality.md)"
    states = [load_state(workspace.layout, article_id) for article_id in article_ids]
    published = [state for state in states if state.published]
    among = {state.article_id for state in published}
    asked = [
        one.model_copy(update={"questions": tuple(q for q in one.questions if q.right_articles & among)})
        for one in sets
    ]
    asked = [one for one in asked if one.questions]
    if not asked:
        return None, "no known question is answered by an article of the sample; name one that is with --article"
    scratch.index.remove(set(article_ids) - among)
    try:
        before = _evaluation(_published_reader(workspace, folder, published), asked)
    except KnowledgeBaseError as exc:
        return None, f"what is published cannot be searched for comparison: {exc}"
    after = _evaluation(scratch.reader(), asked)
    comparison = compare(before, after)
    return PreviewedScores(comparison.questions, before.run.scores, after.run.scores, comparison), ""


def _published_reader(workspace: Workspace, folder: Path, states: Sequence[ArticleState]) -> Reader:
    """A reader of an index of its own that holds what is published of these articles, from the vectors that are kept.

    Raises:
        KnowledgeBaseError: chunks or vectors are damaged, or were made with other settings than now.
    """
    places = {"home": str(folder), "serving": None, "index": "lancedb", "index_uri": None, "search_index": None}
    mine = Workspace(workspace.settings.model_copy(update=places))
    mine.index.publish(
        {state.article_id: published_entries(workspace, state, state.published[-1].id) for state in states}
    )
    return Reader(mine.generation, mine.index, workspace.embedder)


def _evaluation(reader: Reader, sets: Sequence[QuestionSet]) -> Evaluation:
    outcomes = with_values([ask(reader, wording) for wording in wordings(sets)])
    run = run_of("retrieval", reader.generation, indexed={}, sets=sets, settings={}, code="", at="")
    return Evaluation(run.model_copy(update={"scores": scores_of(outcomes)}), outcomes)


CHANGEABLE = (
    *("analyzer", "mistral_model", "vision_model", "image_prompt_file", "sources", "embedder"),
    *("transcription_model", "chunk_max_tokens", "chunk_min_tokens", "advisory_checks", "prices", "ocr_pages"),
    *("article_seconds", "article_memory_mb", "image_seconds", "image_memory_mb"),
    *("document_seconds", "document_memory_mb", "document_bytes", "document_pages", "unread_pages_above"),
    *("mask_addresses", "render"),
)
"""Settings that decide what is made of an article, or what it costs. Places, keys and machines stay what they are: with
others, a preview would read or write somewhere else."""


def changed_settings(settings: Settings, changes: Mapping[str, str]) -> Settings:
    """The settings with these variables (``KB_...``) as text, validated like those of the environment.

    Raises:
        SettingsError: there is no such setting, a preview may not change it, or a value is not valid.
    """
    names = {_field(variable): text for variable, text in changes.items()}
    return load_settings(**{name: getattr(settings, name) for name in Settings.model_fields} | names)


def _field(variable: str) -> str:
    name = variable.removeprefix("KB_").lower()
    if variable == f"KB_{name}".upper() and name in CHANGEABLE:
        return name
    names = [f"KB_{field}".upper() for field in Settings.model_fields]
    if variable in names:
        changeable = ", ".join(f"KB_{field}".upper() for field in CHANGEABLE)
        raise SettingsError(
            f"{variable} cannot be previewed: it does not decide what is made of an article; these do: {changeable}"
        )
    near = get_close_matches(variable.upper(), names, 3, 0.7)
    hint = f"did you mean {' or '.join(near)}?" if near else "docs/settings.md has all settings"
    raise SettingsError(f"{variable} is not a setting; {hint}")
