"""With PostgreSQL as Dagster's storage every behaviour of the assets is as with SQLite."""

import pytest

from kb_pipeline_tests.defs.test_assets import *  # noqa: F403  (every behaviour there, on the `instance` below)
from kb_pipeline_tests.defs.test_postgres import instance

__all__ = ["instance"]
pytestmark = pytest.mark.rare("every behaviour of the assets once more, on another storage")
