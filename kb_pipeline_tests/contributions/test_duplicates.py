"""How many proposals that say the same are recognised, by the default embedder: what readers ask about the samples."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.contributions.proposing import Proposal, preview
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here, page
from kb_pipeline_tests.conftest import Article

KNOWN = Path(__file__).parents[2] / "samples" / "evaluation" / "wrendesk.jsonl"
_ASKED = map(json.loads, KNOWN.read_text().splitlines())
PAIRS = [(each["question"], each["answer_span"]) for each in _ASKED if each["answer_span"]][::3]

pytestmark = pytest.mark.timeout(1800)  # a machine may be busy

Wording = Callable[[str, str], tuple[str, str]]
SAME_WORDS: dict[str, Wording] = {
    "capitals": lambda question, answer: (question.upper(), answer.upper()),
    "markup": lambda question, answer: (f"{question} ", f"**{answer}**"),
    "lines": lambda question, answer: (question, answer.replace(" ", "\n") + "\n"),
    "punctuation": lambda question, answer: (question.rstrip("?"), f"{answer}!"),
}
REWORDED: dict[str, Wording] = {
    "introduced": lambda question, answer: (question, f"Please note: {answer}, as far as we know."),
    "asked for": lambda question, answer: (f"A colleague asked: {question}", answer),
    "said again": lambda question, answer: (question, f"{answer}. {answer}."),
    "the answer first": lambda question, answer: (f"{answer}.", question),
}


@pytest.fixture
def workspace(settings: Settings, queue: FolderQueue, article: Article) -> Workspace:
    """What was proposed is the answer to each known question."""
    settings = settings.model_copy(update={"embedder": "minilm"})
    article("one", page("one"))
    build_here(settings)
    workspace = Workspace(settings)
    for question, answer in PAIRS:
        queue.add(preview(workspace, queue, Proposal("notes", question, answer)).contribution)
    return workspace


@pytest.mark.slow("builds a whole knowledge base")
def test_what_says_the_same_is_recognised_and_nothing_else(workspace: Workspace, queue: FolderQueue) -> None:
    by_question = {one.description: one.id for one in queue.list()}

    def doubles(wording: Wording) -> list[set[str]]:
        found = (preview(workspace, queue, Proposal("notes", *wording(*pair))).neighbours.doubles for pair in PAIRS)
        return [{double.id for double in each} for each in found]

    right = [by_question[question] for question, _ in PAIRS]
    others = 0
    for name, wording in SAME_WORDS.items():
        found = doubles(wording)
        assert all(one in each for one, each in zip(right, found, strict=True)), name
        others += sum(len(each - {one}) for one, each in zip(right, found, strict=True))
    recognised = [
        one in each for wording in REWORDED.values() for one, each in zip(right, doubles(wording), strict=True)
    ]
    assert sum(recognised) / len(recognised) >= 0.95
    assert others / (len(SAME_WORDS) * len(PAIRS) * (len(PAIRS) - 1)) <= 0.01, "different answers are told apart"
