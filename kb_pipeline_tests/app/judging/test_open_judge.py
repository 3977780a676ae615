"""Which judge the settings select."""

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from app.judging import Judge, Judged, Statement, Verdict, open_judge
from app.model.client import ChatClient
from app.settings import AppSettings, load_app_settings
from kb_pipeline.errors import SettingsError

WITH_MODEL = {"chat_model": "gpt-test", "chat_base_url": "http://127.0.0.1:9/v1"}
HERE = __name__


class Yes(Judge):
    """A judge of somebody else."""

    name = "yes"

    def __init__(self, settings: AppSettings, client: ChatClient | None) -> None:
        self.given = settings, client

    async def verdicts_on(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        return Judged([Verdict("supported") for _ in statements])


class Broken(Yes):
    """One that has a fault."""

    async def verdicts_on(self, question: str, statements: Sequence[Statement], passages: Mapping[int, str]) -> Judged:
        raise ZeroDivisionError


def opened(*, with_client: bool = False, **settings: str) -> Judge:
    async def within() -> Judge:
        made = AppSettings(**settings)
        client = ChatClient(made) if with_client else None
        try:
            return open_judge(made, client)
        finally:
            if client:
                await client.close()

    return asyncio.run(within())


def test_the_chat_model_judges_where_there_is_one() -> None:
    assert opened(with_client=True, **WITH_MODEL).name == "chat"


def test_nobody_judges_quotations() -> None:
    assert opened().name == "none"
    assert opened(**WITH_MODEL, answering="extractive").name == "none"


def test_whoever_wants_no_judge_has_none() -> None:
    assert opened(with_client=True, **WITH_MODEL, judge="none").name == "none"


def test_a_judge_of_ones_own_is_given_settings_and_client() -> None:
    judge = opened(with_client=True, **WITH_MODEL, judge=f"{HERE}:Yes")
    assert isinstance(judge, Yes)
    assert judge.given[0].chat_model == "gpt-test"
    assert isinstance(judge.given[1], ChatClient)


def test_a_fault_of_ones_own_judge_costs_no_answer(caplog: pytest.LogCaptureFixture) -> None:
    judged = asyncio.run(opened(judge=f"{HERE}:Broken").judge("?", [Statement("It is red.")], {1: "It is red."}))
    assert judged == Judged([None])
    assert "ZeroDivisionError" in caplog.text


def test_an_unknown_name_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match=r"KB_JUDGE is 'jury'; it must be one of chat, none, onnx"):
        opened(judge="jury")


def test_the_chat_model_cannot_judge_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_JUDGE", "chat")
    with pytest.raises(SettingsError, match="KB_JUDGE is chat, which needs a model; set KB_CHAT_MODEL"):
        load_app_settings()
    with pytest.raises(SettingsError, match="KB_JUDGE is chat, but no model words answers"):
        opened(**WITH_MODEL, judge="chat")
