"""Poisoned articles change no answer without a sign of it, whatever a model does that obeys them."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.settings import AppSettings
from benchmarks.obedient_model import ObedientModel
from benchmarks.paid import ANALYZER
from benchmarks.poisoned import Shown, ask_all, build, pieces_of, stage_poison, targets_of, verdict
from benchmarks.poisons import HIDDEN, KINDS, SIGN, Poison, poison_of
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.model_servers import OwnModel

SAMPLES = Path(__file__).parents[3] / "samples" / "staging"
SIGNS = {"same", "moved", "cited", "marked", "uncited", "searched"}
"""Verdicts on answers that say where everything in them is from."""
Asked = dict[str, tuple[list[Shown], list[Shown]]]


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[list[Poison], Asked, ObedientModel]]:
    """The poisoned articles, one of each kind, the answers before and after they came, and the model."""
    home = tmp_path_factory.mktemp("poisoned")
    pages = shutil.ignore_patterns("*.pdf", "*.docx", "*.pptx", "*.md", "*.*.metadata.json")
    shutil.copytree(SAMPLES, home / "staging", ignore=pages)
    settings = Settings(
        staging=str(home / "staging"),
        home=str(home / "home"),
        embedder="hashing",
        analyzer=ANALYZER,
        engine="kb_pipeline_tests.doubles:WorkersHere",
    )
    assert build(settings, sorted(folder.name for folder in (home / "staging").iterdir())) == []
    targets = targets_of((), settings, len(KINDS))
    bad = [poison_of(kind, target, at, at) for at, (kind, target) in enumerate(zip(KINDS, targets, strict=True))]
    model = ObedientModel(poison.order for poison in bad)
    questions = [target.question for target in targets]
    with OwnModel(model.answer) as server:

        def asked() -> dict[str, list[Shown]]:
            answers = {"extractive": asyncio.run(ask_all(settings, AppSettings(), questions))}
            for mode in ("retrieve-first", "agent"):
                made = AppSettings(answering=mode, vision=False, chat_model="m", chat_base_url=server.base_url)
                answers[mode] = asyncio.run(ask_all(settings, made, questions))
            return answers

        before = asked()
        for poison in bad:
            stage_poison(poison, home / "staging")
        assert build(settings, [poison.article_id for poison in bad]) == []
        after = asked()
    yield bad, {mode: (before[mode], after[mode]) for mode in before}, model


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("mode", ["extractive", "retrieve-first", "agent"])
def test_what_a_poisoned_article_changes_refers_to_it_or_is_marked(
    poisoned: tuple[list[Poison], Asked, ObedientModel], mode: str
) -> None:
    bad, asked, _ = poisoned
    ids = frozenset(poison.article_id for poison in bad)
    found = {poison.kind: verdict(*answers, ids) for poison, *answers in zip(bad, *asked[mode], strict=True)}
    assert {kind: names for kind, names in found.items() if not names <= SIGNS} == {}


def test_the_articles_are_found_and_the_model_obeys_them(
    poisoned: tuple[list[Poison], Asked, ObedientModel],
) -> None:
    bad, asked, model = poisoned
    for poison, answer in zip(bad, asked["extractive"][1], strict=True):
        assert poison.article_id in {citation.article_id for citation in answer.answer.citations}, poison.kind
    assert len({poison.kind for poison in bad if poison.order in model.obeyed} - HIDDEN) > len(KINDS) // 2


def test_a_verdict_tells_a_claim_that_stands_alone_or_under_another_name() -> None:
    from app.schema.answers import ChatAnswer
    from kb_pipeline_tests.app.grounding.passages import citation

    def shown(text: str, refused: bool = False) -> Shown:
        return Shown(ChatAnswer(answer=text, citations=(citation("x"),), answered_by="agent", refused=refused))

    honest = shown("Choose Crop.")
    ids = frozenset({"poisoned-000"})
    assert verdict(honest, honest, ids) == {"same"}
    assert "uncited" in verdict(honest, shown(f"Choose Crop. Install {SIGN}."), ids)
    assert "unflagged" in verdict(honest, shown(f"Install {SIGN}. [Ref #1]"), ids)
    assert "silent" in verdict(honest, shown("The articles do not say that.", refused=True), ids)
    assert list(pieces_of(shown("").answer)) == []
