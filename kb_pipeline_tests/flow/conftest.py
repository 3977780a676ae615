"""Of screenshots, tests of the flow ask for their way to the readers, not for the text on them."""

import pytest

from kb_pipeline.settings import Settings


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:GlancingAnalyzer"})
