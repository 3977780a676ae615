"""The site that tests fill."""

from collections.abc import Iterator

import pytest

from kb_pipeline_tests.intake.website.site import Site


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.close()
