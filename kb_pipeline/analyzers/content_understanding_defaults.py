"""Model defaults of a Content Understanding resource: which deployment answers for which model.

They are state of the resource that no template deploys. Analyses fail, some of them in silence, where one is missing.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from kb_pipeline.analyzers.content_understanding_client import ContentUnderstanding
from kb_pipeline.errors import ServiceError
from kb_pipeline.settings import Settings

MODELS = ("gpt-4.1", "gpt-4.1-mini", "text-embedding-3-small", "text-embedding-3-large")
ALIASES = {
    "prebuilt-analyzer-completion": "gpt-4.1",
    "prebuilt-analyzer-completion-mini": "gpt-4.1-mini",
    "prebuilt-analyzer-embedding": "text-embedding-3-large",
}
"""Names by which prebuilt analyzers ask for a model
(https://learn.microsoft.com/azure/ai-services/content-understanding/concepts/models-deployments)."""


@dataclass(frozen=True)
class Defaults:
    """Deployments by model, as registered; ``registered`` and ``removed`` are what changed just now."""

    deployments: Mapping[str, str]
    registered: Mapping[str, str]
    removed: Mapping[str, str]


def wanted_defaults(settings: Settings) -> dict[str, str]:
    """What must be registered: models and the aliases of prebuilt analyzers, with their deployments."""
    named = dict(settings.openai_deployments)
    models = {model: named.get(model, model) for model in MODELS}
    return models | {alias: models[model] for alias, model in ALIASES.items()}


def read_defaults(cu: ContentUnderstanding) -> dict[str, str]:
    """What is registered now."""
    with cu.explained():
        return dict(cu.sdk.get_defaults().get("modelDeployments") or {})


def register_defaults(cu: ContentUnderstanding, wanted: Mapping[str, str]) -> Defaults:
    """Register what is missing or differs, remove all others, by one merge patch; nothing is sent if nothing differs.

    Raises:
        KnowledgeBaseError: the service refuses, or did not do what it said.
    """
    known = read_defaults(cu)
    missing = {model: deployment for model, deployment in wanted.items() if known.get(model) != deployment}
    stale = {model: deployment for model, deployment in known.items() if model not in wanted}
    if missing or stale:
        with cu.explained():  # RFC 7396: null removes
            cu.sdk.update_defaults({"modelDeployments": {**missing, **dict.fromkeys(stale)}})
        if wrong := sorted(model for model, _ in read_defaults(cu).items() ^ wanted.items()):
            raise ServiceError(
                f"{cu.service.place} did not take the model default {wrong[0]}; check that KB_OPENAI_DEPLOYMENTS "
                "names deployments of this resource"
            )
    return Defaults(wanted, missing, stale)


def defaults_problems(known: Mapping[str, str], wanted: Mapping[str, str]) -> list[str]:
    """What is not registered as it should be, for a person."""
    return [
        f"model {model} is registered as deployment {known[model]}, not {deployment}"
        if model in known
        else f"model {model} is not registered"
        for model, deployment in wanted.items()
        if known.get(model) != deployment
    ]
