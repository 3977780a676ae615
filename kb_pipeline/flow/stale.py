"""Finds the articles that a build would have to work on, and why. Reads only states and folder listings."""

from dataclasses import dataclass

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.build import limits_and_code
from kb_pipeline.flow.index_state import published_hash
from kb_pipeline.flow.layers import ARTICLE_LAYERS, Layer, Run, SearchIndexLayer
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.store.state import ArticleState, BuildFailure, load_states

_LOOKING = Run("look", "")
"""For those who make nothing and are no run."""


@dataclass(frozen=True)
class Stale:
    """An article that is out of date. ``layer`` is the first layer that would be made."""

    article_id: str
    layer: str
    reason: str


def stale_articles(workspace: Workspace, run: Run = _LOOKING) -> list[Stale]:
    """The staged articles that are new, changed, failed for a transient reason, outdated or not published, by name.

    An article that failed permanently is left out until its source, or the code that failed, changes.

    Raises:
        StorageError: the staging folder cannot be listed.
    """
    signatures = workspace.staging.scan().signatures
    states = {state.article_id: state for state in load_states(workspace.layout)}
    check = _StalenessCheck(workspace, run)
    verdicts = (check.verdict(key, signatures[key], states.get(key)) for key in sorted(signatures))
    return [stale for stale in verdicts if stale is not None]


def outdated(workspace: Workspace, state: ArticleState, run: Run) -> Stale | None:
    """The first layer that is missing, or was made from other inputs, by other code or by another backend."""
    return _StalenessCheck(workspace, run).outdated(state, ARTICLE_LAYERS[-1].name)


class _StalenessCheck:
    """Compares articles with what these settings and this code would make; holds what all comparisons share."""

    def __init__(self, workspace: Workspace, run: Run) -> None:
        self._generation = workspace.generation.id
        self._layers = [layer(workspace) for layer in ARTICLE_LAYERS]
        self._index = SearchIndexLayer(workspace)
        self._workspace = workspace
        self._run = run

    def verdict(self, article_id: str, signature: str, state: ArticleState | None) -> Stale | None:
        first = self._layers[0].name
        if state is None:
            return Stale(article_id, first, "new")
        if state.signature != signature:
            return Stale(article_id, first, "changed in staging" if state.signature else "not published yet")
        if state.failure:
            return self._failed(state, state.failure)
        return self.outdated(state, self._layers[-1].name) or self._unpublished(state)

    def _failed(self, state: ArticleState, failure: BuildFailure) -> Stale | None:
        if failure.limits and not failure.transient:
            reason = "its process was killed under other limits or other code"
            is_same = failure.limits == limits_and_code(self._workspace)
            return None if is_same else Stale(state.article_id, failure.layer, reason)
        before = self.outdated(state, failure.layer)
        if before and before.layer != failure.layer:
            return before
        if failure.transient:
            return Stale(state.article_id, failure.layer, "failed for now")
        flow: list[Layer | SearchIndexLayer] = [*self._layers, self._index]
        if failure.code_version in [layer.code_version() for layer in flow if layer.name == failure.layer]:
            return None
        return Stale(state.article_id, failure.layer, f"{failure.layer} failed with other code or options")

    def outdated(self, state: ArticleState, last: str) -> Stale | None:
        """The first outdated layer, up to and including ``last``."""
        for layer in self._layers:
            if layer.is_needed(state) and (reason := self._reason(layer, state)):
                return Stale(state.article_id, layer.name, reason)
            if layer.name == last:
                break
        return None

    def _reason(self, layer: Layer, state: ArticleState) -> str | None:
        made = state.layers.get(layer.name)
        if made is None:
            return f"{layer.name} was not made yet"
        try:
            made_from = layer.made_from(layer.inputs(state, self._run))
        except KnowledgeBaseError as exc:
            return str(exc)
        return None if made.fingerprint == made_from else f"{layer.name} is of other code, options or inputs"

    def _unpublished(self, state: ArticleState) -> Stale | None:
        last = state.published[-1] if state.published else None
        if last is None or last.id != state.version or published_hash(state) != state.layers["chunks"].output_hash:
            return Stale(state.article_id, self._index.name, "not published")
        if last.generation != self._generation:
            return Stale(state.article_id, self._index.name, "not in this generation of the index")
        return None
