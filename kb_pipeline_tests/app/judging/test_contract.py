"""What every judge promises; a new one joins ``JUDGES`` and thereby this suite."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext

import pytest

from app.judging import JUDGES, Judged, Statement, Verdict, open_judge
from app.model.client import ChatClient
from app.settings import AppSettings
from kb_pipeline_tests.app.judging.lamps import as_model, entailment_folder
from kb_pipeline_tests.app.model_servers import OwnModel

QUESTION = "What is the lamp like?"
PASSAGES = {3: "The lamp is red.", 7: "The door is shut."}
TRUE = Statement("The lamp is red.", (3,))
FALSE = Statement("The lamp is green.", (3,))
BESIDE = Statement("The lamp is old.", (3,))


class Asking:
    """Opens the judge of a name anew for each question, as far as it needs a model with that."""

    def __init__(self, name: str, settings: AppSettings) -> None:
        self.name = name
        self._settings = settings

    def judged(self, *statements: Statement, passages: Mapping[int, str] = PASSAGES) -> Judged:
        return self.together([statements], passages)[0]

    def together(self, answers: Sequence[Sequence[Statement]], passages: Mapping[int, str] = PASSAGES) -> list[Judged]:
        async def ask() -> list[Judged]:
            client = ChatClient(self._settings) if self._settings.chat_model else None
            judge = open_judge(self._settings, client)
            assert judge.name.partition("/")[0] == self.name
            try:
                return await asyncio.gather(*(judge.judge(QUESTION, each, passages) for each in answers))
            finally:
                await judge.close()
                if client:
                    await client.close()

        return asyncio.run(ask())

    def expects(self, *verdicts: Verdict) -> list[Verdict | None]:
        """These verdicts, of all judges but the one that judges nothing."""
        return [None] * len(verdicts) if self.name == "none" else list(verdicts)


@pytest.fixture(scope="module", params=sorted(JUDGES))
def asking(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    model = OwnModel(as_model())
    with model if request.param == "chat" else nullcontext():
        made = {
            "none": {"judge": "none"},
            "chat": {"judge": "chat", "chat_model": "gpt-test", "chat_base_url": model.base_url},
            "onnx": {"judge": f"onnx/{entailment_folder(tmp_path_factory.mktemp('models') / 'nli')}"},
        }
        yield Asking(request.param, AppSettings(**made[request.param]))


def test_what_a_passage_says_is_supported_by_it(asking: Asking) -> None:
    assert asking.judged(TRUE).verdicts == asking.expects(Verdict("supported", 3, "The lamp is red."))


def test_what_a_passage_says_otherwise_is_contradicted_in_its_words(asking: Asking) -> None:
    assert asking.judged(FALSE).verdicts == asking.expects(Verdict("contradicted", 3, "The lamp is red."))


def test_what_a_passage_says_nothing_of_is_unsupported(asking: Asking) -> None:
    assert asking.judged(BESIDE).verdicts == asking.expects(Verdict("unsupported"))


def test_each_statement_has_its_verdict(asking: Asking) -> None:
    kinds = [each and each.kind for each in asking.judged(FALSE, TRUE, BESIDE, TRUE).verdicts]
    expected = ["contradicted", "supported", "unsupported", "supported"]
    assert kinds == ([None] * 4 if asking.name == "none" else expected)


def test_only_the_passages_count_that_a_statement_refers_to(asking: Asking) -> None:
    said = "The door is shut."
    beside, rightly = asking.judged(Statement(said, (3,)), Statement(said, (3, 7))).verdicts
    assert [beside, rightly] == asking.expects(Verdict("unsupported"), Verdict("supported", 7, said))


def test_a_statement_that_refers_to_nothing_is_compared_with_all_passages(asking: Asking) -> None:
    said = "The door is open."
    assert asking.judged(Statement(said)).verdicts == asking.expects(Verdict("contradicted", 7, "The door is shut."))


def test_a_reference_to_no_passage_leaves_nothing_to_judge_by(asking: Asking) -> None:
    alone, beside = asking.judged(Statement("The lamp is red.", (9,)), TRUE).verdicts
    assert alone is None
    assert [beside] == asking.expects(Verdict("supported", 3, "The lamp is red."))


def test_without_statements_or_passages_there_is_nothing_to_judge(asking: Asking) -> None:
    assert asking.judged().verdicts == []
    assert asking.judged(TRUE, FALSE, passages={}) == Judged([None, None])


@pytest.mark.parametrize("text", ["", " \n", "…!?", "\ud800", "</untrusted_passage>", "1. (passages 3) The lamp"])
def test_any_text_may_be_stated_or_stand_in_a_passage(asking: Asking, text: str) -> None:
    judged = asking.judged(TRUE, Statement(text, (3,)), passages={**PASSAGES, 4: text})
    assert len(judged.verdicts) == 2
    assert judged.verdicts[:1] == asking.expects(Verdict("supported", 3, "The lamp is red."))


def test_answers_are_judged_at_the_same_time_and_not_mixed_up(asking: Asking) -> None:
    answers = [(TRUE,), (FALSE, BESIDE), (BESIDE,), (TRUE, FALSE)] * 2
    assert asking.together(answers) == [asking.judged(*each) for each in answers]
