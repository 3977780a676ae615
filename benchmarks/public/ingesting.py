"""A knowledge base of a published set's documents."""

import os
import subprocess
import sys
from pathlib import Path

from kb_pipeline.settings import Settings, load_settings


def ingested(work: Path) -> Settings:
    """Ingest what is new or changed in ``work/staging`` into ``work/home``, as ``kb ingest`` does."""
    settings = load_settings(home=str(work / "home"), staging=str(work / "staging"))
    command = [sys.executable, "-m", "kb_pipeline", "ingest", "--changed"]
    places = {"KB_HOME": str(settings.home), "KB_STAGING": str(settings.staging)}
    subprocess.run(command, env=os.environ | places, check=True)
    return settings
