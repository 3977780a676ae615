"""An entailment model in a folder: what it is given to compare, and folders that hold none."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from app.application.checking import check_answering
from app.judging import Statement, Verdict
from app.judging.onnx_folder import OnnxFolderJudge, windows_of
from app.settings import AppSettings
from kb_pipeline.errors import ModelError, SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.check import Connection
from kb_pipeline_tests.app.judging.lamps import entailment_folder
from kb_pipeline_tests.models.model_folders import write_json


def premises(passage: str) -> list[str]:
    return [window.premise for window in windows_of(1, passage)]


def judged(folder: Path, passage: str, *statements: str) -> Sequence[Verdict | None]:
    async def ask() -> Sequence[Verdict | None]:
        judge = OnnxFolderJudge(f"onnx/{folder}")
        try:
            return (await judge.judge("?", [Statement(each) for each in statements], {1: passage})).verdicts
        finally:
            await judge.close()

    return asyncio.run(ask())


def test_neighbouring_sentences_are_read_together() -> None:
    assert premises("One. Two. Three. Four. Five.") == ["One. Two. Three.", "Three. Four. Five."]
    assert premises("One. Two. Three. Four.") == ["One. Two. Three.", "Three. Four."]
    assert premises("One. Two.") == ["One. Two."]
    assert premises("One.") == ["One."]
    assert premises("") == []


def test_sentences_are_read_below_their_heading_and_their_term() -> None:
    passage = "# Lamps\n\nOld ones.\n\n**Colour**\n\nIt is [red](red.html).\n\n## Doors\n\nThey are `shut`."
    assert premises(passage) == ["Lamps. Old ones.", "Lamps. Colour. It is red.", "Doors. They are `shut`."]


def test_rows_are_read_below_the_head_of_their_table_and_what_follows_is_not() -> None:
    table = "| lamp | door |\n|---|---|\n| red | shut |\n| green | open |\n\nBoth are old."
    assert premises(table) == ["lamp | door. red | shut green | open", "Both are old."]


def test_a_verdict_has_the_sentences_as_they_stand_in_the_passage(tmp_path: Path) -> None:
    passage = "# Old\n\nThe **lamp** is red.\n\n- The door is shut."
    (verdict,) = judged(entailment_folder(tmp_path), passage, "The lamp is *green*.")
    assert verdict == Verdict("contradicted", 1, "The **lamp** is red.\n\n- The door is shut.")


def test_one_window_that_says_the_same_is_enough(tmp_path: Path) -> None:
    passage = "# Lamp\n\nThe old lamp is red.\n\n# Door\n\nThe lamp is green."
    same, otherwise = judged(entailment_folder(tmp_path), passage, "The lamp is green.", "The old lamp is green.")
    assert same == Verdict("supported", 1, "The lamp is green.")
    assert otherwise is not None
    assert otherwise.kind == "contradicted"


def test_a_model_without_contradiction_says_unsupported(tmp_path: Path) -> None:
    labels = {0: "not_entailment", 1: "entailment", 2: "not_entailment"}
    folder = entailment_folder(tmp_path, labels)
    assert judged(folder, "The lamp is red.", "The lamp is red.", "The lamp is green.") == [
        Verdict("supported", 1, "The lamp is red."),
        Verdict("unsupported"),
    ]


def test_texts_longer_than_a_model_reads_are_cut(tmp_path: Path) -> None:
    (verdict,) = judged(entailment_folder(tmp_path), "The lamp is red. " + "old " * 2000, "The lamp is red.")
    assert verdict is not None
    assert verdict.kind == "supported"


@pytest.mark.parametrize("graph", ["small.onnx", "onnx/small.onnx"])
def test_the_graph_itself_may_be_named(graph: str, tmp_path: Path) -> None:
    folder = entailment_folder(tmp_path)
    (folder / graph).parent.mkdir(exist_ok=True)
    (folder / "model.onnx").rename(folder / graph)
    (verdict,) = judged(folder / graph, "The lamp is red.", "The lamp is red.")
    assert verdict == Verdict("supported", 1, "The lamp is red.")


@pytest.mark.parametrize(
    ("name", "problem"),
    [("onnx", "KB_JUDGE is onnx; say which folder"), ("onnx//no/such/folder", "KB_JUDGE names /no/such/folder")],
)
def test_a_setting_that_names_no_folder_is_refused(name: str, problem: str) -> None:
    with pytest.raises(SettingsError, match=problem):
        OnnxFolderJudge(name)


@pytest.mark.parametrize(
    ("missing", "problem"),
    [
        ("model.onnx", "no ONNX graph .* --task text-classification"),
        ("tokenizer.json", "tokenizer.json cannot be read"),
        ("config.json", "config.json cannot be read"),
    ],
)
def test_a_folder_that_lacks_a_file_is_refused(missing: str, problem: str, tmp_path: Path) -> None:
    (entailment_folder(tmp_path) / missing).unlink()
    with pytest.raises(ModelError, match=problem):
        OnnxFolderJudge(f"onnx/{tmp_path}")


@pytest.mark.parametrize("labels", [{"0": "LABEL_0", "1": "LABEL_1"}, {"0": "positive"}, {"a": "entailment"}, None])
def test_a_classifier_of_something_else_is_refused(labels: dict[str, str] | None, tmp_path: Path) -> None:
    write_json(entailment_folder(tmp_path) / "config.json", {"id2label": labels} if labels else {})
    with pytest.raises(ModelError, match="which label is entailment"):
        OnnxFolderJudge(f"onnx/{tmp_path}")


@pytest.mark.parametrize("content", [b"no graph", None])
def test_a_graph_that_cannot_compare_texts_judges_nothing(
    content: bytes | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = entailment_folder(tmp_path)
    if content:
        (folder / "model.onnx").write_bytes(content)
    else:  # another number of labels than its graph has
        write_json(folder / "config.json", {"id2label": {"0": "entailment", "1": "contradiction"}})
    assert judged(folder, "The lamp is red.", "The lamp is red.") == [None]
    assert "are not checked" in caplog.text


def test_too_many_answers_at_once_are_not_checked_rather_than_waited_for(tmp_path: Path) -> None:
    async def ask() -> int:
        judge = OnnxFolderJudge(f"onnx/{entailment_folder(tmp_path)}")
        asked = (judge.judge("?", [Statement("The lamp is red.")], {1: "The lamp is red."}) for _ in range(60))
        judged = await asyncio.gather(*asked)
        await judge.close()
        return sum(not any(each.verdicts) for each in judged)

    assert 0 < asyncio.run(ask()) < 60


def test_kb_check_tries_the_model(tmp_path: Path) -> None:
    def checked(folder: Path) -> Connection:
        settings = AppSettings(judge=f"onnx/{folder}")
        return next(each for each in check_answering(settings, Settings(home=str(tmp_path))) if each.role == "judge")

    assert checked(entailment_folder(tmp_path / "nli")).found == "finds that a sentence is supported by itself"
    (tmp_path / "nli" / "model.onnx").write_bytes(b"no graph")
    assert "cannot be loaded" in checked(tmp_path / "nli").problem
    assert "is not there" in checked(tmp_path / "none").problem
