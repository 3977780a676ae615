"""Readers wait for the cores of this machine, or for a service, and then not for each other."""

import pytest

from app.library.retrieval import threads_for
from kb_pipeline.settings import Settings


def test_what_is_computed_here_has_a_thread_for_each_core() -> None:
    assert threads_for(Settings(workers=3)) == 3


@pytest.mark.parametrize(
    "service", [{"embedder": "openai"}, {"embedder": "openai/text-embedding-3-small"}, {"index": "azure-ai-search"}]
)
def test_one_slow_answer_of_a_service_does_not_keep_other_readers_waiting(service: dict[str, str]) -> None:
    assert threads_for(Settings(workers=1, **service)) == 8
    assert threads_for(Settings(workers=12, **service)) == 12
