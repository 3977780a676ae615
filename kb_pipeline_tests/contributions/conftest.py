"""A queue in the test's own home, and contributions for it."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kb_pipeline.contributions.base import Contribution
from kb_pipeline.contributions.folder import FolderQueue

AT = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)
Propose = Callable[..., Contribution]


def contribution(number: int = 1, **changed: object) -> Contribution:
    """A contribution that nobody decided about."""
    facts = {
        "id": f"20260131-{number:08x}",
        "service": "cosmos-db",
        "type": "Pitfall",
        "description": f"Pitfall {number}",
        "content": f"Mind pitfall {number}.",
        "content_hash": "0" * 64,
        "contributed_by": "ann",
        "contributed_at": f"2026-01-31T12:00:{number % 60:02}+00:00",
        "article_id": "cosmos-db",
        "target_section": "Common Pitfalls",
    }
    return Contribution.model_validate(facts | changed)


@pytest.fixture
def queue(tmp_path: Path) -> FolderQueue:
    return FolderQueue(tmp_path / "home" / "contributions")
