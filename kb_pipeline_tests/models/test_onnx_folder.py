"""Any sentence-transformers folder with an ONNX graph is a model, and one that is not known says which part is not."""

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from kb_pipeline.errors import ModelError, SettingsError
from kb_pipeline.models import Embedder, onnx_embedder, open_embedder
from kb_pipeline.settings import Settings
from kb_pipeline_tests.models.model_folders import TABLE, WORDS, tiny_folder, write_graph, write_json

MEAN = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}
INT64, INT32 = onnx.TensorProto.INT64, onnx.TensorProto.INT32
FREE: list[str | int] = ["batch", "tokens"]

Open = Callable[[Path], Embedder]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A folder that is complete and right."""
    return tiny_folder(tmp_path / "colours", pooling=MEAN)


@pytest.fixture
def opened(tmp_path: Path) -> Open:
    return lambda place: open_embedder(Settings(home=str(tmp_path / "home")), f"onnx/{place}")


def unit(*values: float) -> Any:
    return pytest.approx(np.array(values) / np.linalg.norm(values), abs=1e-6)


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        (MEAN, (1, 2, 2, 1)),
        ({"pooling_mode": "mean"}, (1, 2, 2, 1)),
        ({"pooling_mode_max_tokens": True}, (1, 2, 2, 1)),
        ({"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, (1, 0, 0, 0)),
        ({"pooling_mode_lasttoken": True}, (0, 0, 0, 1)),
    ],
)
def test_tokens_are_pooled_as_the_folder_says(
    tmp_path: Path, opened: Open, pooling: dict[str, object], expected: tuple[float, ...]
) -> None:
    embedder = opened(tiny_folder(tmp_path / "colours", pooling=pooling))
    assert embedder.embed(["red green"])[0] == unit(*expected)


@pytest.mark.parametrize(
    ("pooling", "named"),
    [
        ({"pooling_mode_weightedmean_tokens": True}, "weightedmean"),
        ({**MEAN, "pooling_mode_cls_token": True}, "cls and mean"),
    ],
)
def test_a_pooling_that_is_not_known_is_named(
    tmp_path: Path, opened: Open, pooling: dict[str, object], named: str
) -> None:
    with pytest.raises(ModelError, match=f"pools by {named}; only one of cls, .* is supported"):
        opened(tiny_folder(tmp_path / "colours", pooling=pooling))


def test_words_have_the_vectors_of_the_last_layer(model: Path, opened: Open) -> None:
    words = opened(model).embed_question("red: green").words
    assert words is not None
    assert words.tolist() == [[0, 1, 0, 0], [0, 0, 1, 0]]


def test_a_prompt_stands_before_the_text_and_is_no_word(tmp_path: Path, opened: Open) -> None:
    prompts = {"prompts": {"query": "ask: ", "passage": "green "}}
    embedder = opened(tiny_folder(tmp_path / "colours", pooling=MEAN, config_sentence_transformers=prompts))
    asked = embedder.embed_question("red")
    assert asked.vector == unit(11, 12, 10, 11)
    assert asked.words is not None
    assert asked.words.tolist() == [[0, 1, 0, 0]]
    assert embedder.embed_passages(["red"])[0].vector == unit(1, 2, 2, 1)
    assert embedder.count_tokens("red") == 4


def test_a_long_text_is_cut_and_ends_as_every_text(tmp_path: Path, opened: Open) -> None:
    embedder = opened(tiny_folder(tmp_path / "colours", pooling=MEAN, sentence_bert_config={"max_seq_length": 8}))
    assert embedder.embed(["red " * 6 + "green"])[0] == unit(1, 12, 0, 1)


@pytest.mark.parametrize(("lower", "expected"), [(True, (1, 2, 0, 1)), (False, (8, 0, 0, 1))])
def test_text_is_made_lower_case_where_the_folder_says_so(
    tmp_path: Path, opened: Open, lower: bool, expected: tuple[float, ...]
) -> None:
    embedder = opened(tiny_folder(tmp_path / "colours", pooling=MEAN, sentence_bert_config={"do_lower_case": lower}))
    assert embedder.embed(["Red"])[0] == unit(*expected)


@pytest.mark.parametrize("kind", [INT64, INT32])
@pytest.mark.parametrize(
    "names",
    [
        ("input_ids",),
        ("input_ids", "attention_mask", "token_type_ids"),
        ("input_ids", "attention_mask", "position_ids"),
    ],
)
def test_the_graph_gets_the_inputs_that_it_wants(model: Path, opened: Open, names: tuple[str, ...], kind: int) -> None:
    write_graph(model / "model.onnx", inputs=dict.fromkeys(names, (kind, FREE)))
    assert opened(model).embed(["red"])[0] == unit(1, 2, 0, 1)


@pytest.mark.parametrize(
    ("name", "kind", "shape", "reason"),
    [
        ("past_key_values", INT64, FREE, "wants 'past_key_values'"),
        ("attention_mask", onnx.TensorProto.FLOAT, FREE, r"wants 'attention_mask' of tensor\(float\)"),
        ("attention_mask", INT64, [1, 128], r"of shape \(1, 128\) only"),
    ],
)
def test_a_graph_that_is_no_encoder_of_texts_is_refused(
    model: Path, opened: Open, name: str, kind: int, shape: list[str | int], reason: str
) -> None:
    write_graph(model / "model.onnx", inputs={"input_ids": (INT64, FREE), name: (kind, shape)})
    with pytest.raises(ModelError, match=reason):
        opened(model)


def test_a_graph_that_makes_the_vector_itself_needs_no_pooling(tmp_path: Path, opened: Open) -> None:
    folder = tiny_folder(tmp_path / "colours")
    write_graph(folder / "model.onnx", outputs=["sentence_embedding"])
    embedder = opened(folder)
    assert embedder.embed(["red green"])[0] == unit(1, 2, 2, 1)
    assert embedder.embed_question("red").words is None
    write_graph(folder / "model.onnx", outputs=["token_embeddings", "sentence_embedding"])
    assert opened(folder).embed_question("red").words is not None


def test_dimensions_that_the_graph_leaves_open_are_those_of_the_configuration(model: Path, opened: Open) -> None:
    write_graph(model / "model.onnx", open_width=True)
    with pytest.raises(ModelError, match=r"how many dimensions its vectors have; add config\.json"):
        opened(model)
    write_json(model / "config.json", {"hidden_size": 4})
    assert opened(model).dimensions == 4


def test_one_of_several_graphs_is_named(tmp_path: Path, opened: Open) -> None:
    folder = tiny_folder(tmp_path / "colours", graph="onnx/model_int8.onnx", pooling=MEAN)
    assert opened(folder).embed(["red"])[0] == unit(1, 2, 0, 1)
    write_graph(folder / "onnx" / "model_fp16.onnx", table=-TABLE)
    with pytest.raises(ModelError, match=r"several graphs \(onnx/model_fp16\.onnx, onnx/model_int8\.onnx\); name one"):
        opened(folder)
    assert opened(folder / "onnx" / "model_fp16.onnx").embed(["red"])[0] == unit(-1, -2, 0, -1)
    write_graph(folder / "onnx" / "model.onnx", table=-TABLE)
    assert opened(folder).embed(["red"])[0] == unit(-1, -2, 0, -1)


def test_a_relative_folder_is_in_the_home_folder(tmp_path: Path) -> None:
    tiny_folder(tmp_path / "home" / "models" / "colours", pooling=MEAN)
    assert open_embedder(Settings(home=str(tmp_path / "home")), "onnx/models/colours").dimensions == 4


def test_a_colon_in_the_path_is_no_class(tmp_path: Path, opened: Open) -> None:
    assert opened(tiny_folder(tmp_path / "12:30", pooling=MEAN)).dimensions == 4


def test_links_out_of_the_folder_are_followed(tmp_path: Path, model: Path, opened: Open) -> None:
    """Hugging Face's cache is made of them."""
    snapshot = tmp_path / "snapshot"
    for path in [path for path in model.rglob("*") if path.is_file()]:
        (snapshot / path.relative_to(model)).parent.mkdir(parents=True, exist_ok=True)
        (snapshot / path.relative_to(model)).symlink_to(path)
    assert opened(snapshot).embed(["red"])[0] == unit(1, 2, 0, 1)


def _other_graph(folder: Path) -> None:
    write_graph(folder / "model.onnx", table=-TABLE)


def _other_weights(folder: Path) -> None:
    write_graph(folder / "model.onnx", table=TABLE + 1, external=True)


def _other_tokenizer(folder: Path) -> None:
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace('"red"', '"rot"'))


def _other_pooling(folder: Path) -> None:
    write_json(folder / "1_Pooling" / "config.json", {"pooling_mode_cls_token": True})


@pytest.mark.parametrize("change", [_other_graph, _other_weights, _other_tokenizer, _other_pooling])
def test_another_file_is_another_model(model: Path, opened: Open, change: Callable[[Path], None]) -> None:
    write_graph(model / "model.onnx", external=True)
    before = opened(model)
    assert before.model_id.startswith("colours-")
    change(model)
    assert opened(model).model_id != before.model_id


@pytest.mark.parametrize("change", [_other_graph, _other_weights, _other_tokenizer])
def test_a_file_that_is_replaced_meanwhile_is_not_taken_for_the_one_before(
    model: Path, opened: Open, change: Callable[[Path], None]
) -> None:
    embedder = opened(model)
    change(model)
    with pytest.raises(ModelError, match="holds another model than at the start; start again"):
        pickle.loads(pickle.dumps(embedder)).embed(["red"])


def test_the_same_model_in_another_place_is_the_same(model: Path, tmp_path: Path, opened: Open) -> None:
    moved = shutil.copytree(model, tmp_path / "moved" / model.name)
    assert opened(moved).model_id == opened(model).model_id


def test_an_unchanged_graph_is_not_looked_at_again(model: Path, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    first = opened(model).model_id
    monkeypatch.setattr(onnx_embedder, "open_session", None)
    assert opened(model).model_id == first


def test_a_home_that_cannot_be_written_is_no_obstacle(model: Path, tmp_path: Path, opened: Open) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "models").write_text("a file where the folder would be")
    assert opened(model).embed(["red"])[0] == unit(1, 2, 0, 1)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("model.onnx", b"no graph", r"model\.onnx cannot be loaded: .*fetch or export the model again"),
        ("tokenizer.json", b"{}", r"tokenizer\.json cannot be read: .*fetch the model again"),
        ("modules.json", b"[{]", r"modules\.json cannot be read: .*take the folder as"),
        ("modules.json", b'[{"type": "a.LSTM"}]', "has a module 'LSTM', which is not supported; choose another model"),
        ("modules.json", b'[{"type": "a.Pooling", "path": "../../x"}]', "names '../../x', which is outside"),
        ("modules.json", b'[{"type": "a.Dense", "path": "2_Dense"}]', "has a module 'Dense', .*as sentence_embedding"),
        ("1_Pooling/config.json", b"[]", r"1_Pooling/config\.json cannot be read"),
        ("1_Pooling/config.json", b"{}", "does not say how tokens' vectors become the text's .*last_hidden_state"),
        ("1_Pooling/config.json", b" " * 2_000_000, "is larger than a configuration can be"),
        ("sentence_bert_config.json", b'{"max_seq_length": 0}', "max_seq_length Input should be greater"),
        (
            "config_sentence_transformers.json",
            b'{"prompts": {"query": 1}}',
            r"prompts\.query Input should be a valid string",
        ),
    ],
)
def test_what_is_damaged_is_named_with_what_to_do(
    model: Path, opened: Open, file: str, content: bytes, reason: str
) -> None:
    (model / file).write_bytes(content)
    with pytest.raises(ModelError, match=reason):
        opened(model).embed(["red"])


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("model.onnx", "has no ONNX graph .*optimum-cli export onnx"),
        ("tokenizer.json", r"has no tokenizer\.json, .*save_pretrained"),
        ("model.onnx_data", r"model\.onnx cannot be loaded: .*model\.onnx_data"),
    ],
)
def test_what_is_missing_is_named_with_where_to_get_it(model: Path, opened: Open, file: str, reason: str) -> None:
    write_graph(model / "model.onnx", external=True)
    (model / file).unlink()
    with pytest.raises(ModelError, match=reason):
        opened(model)


def test_a_text_that_the_graph_cannot_take_is_said(model: Path, opened: Open) -> None:
    write_graph(model / "model.onnx", table=TABLE[: WORDS.index("green")])
    with pytest.raises(ModelError, match=r"model\.onnx cannot embed a text of 3 tokens"):
        opened(model).embed(["green"])


@pytest.mark.parametrize(("name", "reason"), [("onnx", "say which folder"), ("onnx//nowhere", "which is not there")])
def test_a_setting_without_a_folder_says_so(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(SettingsError, match=reason):
        open_embedder(Settings(home=str(tmp_path)), name)
