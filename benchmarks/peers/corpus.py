"""The articles that are ingested: copies, because they are edited."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from kb_pipeline.store.staging import INDEX_FILE


def copied(stagings: Sequence[Path], target: Path, articles: int = 0) -> Path:
    """Copy the articles of staging folders into one; with a number, that many evenly spread ones."""
    pages = sorted(page for staging in stagings for page in staging.glob(f"*/{INDEX_FILE}"))
    if not pages:
        raise SystemExit(f"no article in {', '.join(map(str, stagings))}")
    wanted = min(articles or len(pages), len(pages))
    for number in range(wanted):
        folder = pages[number * len(pages) // wanted].parent
        shutil.copytree(folder, target / folder.name)
    return target


def count(staging: Path) -> int:
    """How many articles lie there."""
    return sum(1 for _ in staging.glob(f"*/{INDEX_FILE}"))
