"""Four documents of different types, departments and topics, one of them for the personnel department only."""

import json
from pathlib import Path

from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings

_DOCUMENTS: dict[str, tuple[str, dict[str, object]]] = {
    "pump-manual": (
        "# Pump manual\n\n## Start the pump\n\nTo start the pump, press the green button for two seconds.\n",
        {"document_type": "Manual", "department": "Works", "key_topics": ["pumps", "safety"]},
    ),
    "oven-manual": (
        "# Oven manual\n\n## Clean the oven\n\nTo clean the oven, wipe it with warm water.\n",
        {"document_type": "Manual", "department": "Kitchen", "key_topics": ["safety"]},
    ),
    "pump-report": (
        "# Pump report\n\n## Failures of the pump\n\nThe pump failed twice in March, because its filter was full.\n",
        {"document_type": "Report", "department": "Works", "key_topics": ["pumps"]},
    ),
    "wages": (
        "# Wages\n\n## Wages of the works\n\nThe foreman of the pump earns nine.\n",
        {"document_type": "Payroll", "department": "Personnel", "access_control_list": ["group-hr"]},
    ),
}


def publish_collections(folder: Path) -> Settings:
    """Publish them below a folder."""
    settings = Settings(
        staging=str(folder / "collections"),
        home=str(folder / "collections-home"),
        embedder="hashing",
        chunk_min_tokens=4,
    )
    add_collections(settings)
    return settings


def add_collections(settings: Settings) -> None:
    """Publish them, beside what the knowledge base has."""
    for name, (text, metadata) in _DOCUMENTS.items():
        folder = Path(settings.staging) / name
        folder.mkdir(parents=True)
        (folder / "index.md").write_text(text)
        (folder / "metadata.json").write_text(json.dumps(metadata))
    run = Run("run-1", "2026-01-01T00:00:00+00:00")
    built = [build_article(settings, name, LAYER_NAMES, run) for name in _DOCUMENTS]
    published = publish(open_workspace(settings), built, LAYER_NAMES, run)
    assert [result.error for result in published] == [None] * len(_DOCUMENTS)
