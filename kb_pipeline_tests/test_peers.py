"""What the comparison with peers does around them; the peers themselves are in an environment of their own."""

import json
from pathlib import Path

import pytest

from benchmarks.peers.contenders import texts_embedded
from benchmarks.peers.corpus import copied, count
from benchmarks.peers.quality import Asked, as_hits, scores_by_set
from benchmarks.peers.text_only import ANALYZER
from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.evaluation.asking import wordings
from kb_pipeline.evaluation.questions import read_questions
from kb_pipeline.settings import load_settings


def _staged(folder: Path, *article_ids: str) -> Path:
    for article_id in article_ids:
        (folder / article_id).mkdir(parents=True)
        (folder / article_id / "index.html").write_text(f"<p>{article_id}</p>")
    return folder


def test_a_corpus_is_an_evenly_spread_copy_of_all_folders(tmp_path: Path) -> None:
    first, second = _staged(tmp_path / "1", "a", "b", "c"), _staged(tmp_path / "2", "d", "e", "f")
    (first / "no-article").mkdir()
    corpus = copied([first, second], tmp_path / "corpus", articles=3)
    assert sorted(path.name for path in corpus.iterdir()) == ["a", "c", "e"]
    assert count(corpus) == 3
    assert count(copied([first, second], tmp_path / "all")) == 6


def test_an_empty_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no article in"):
        copied([tmp_path], tmp_path / "corpus")


def test_texts_that_were_embedded_are_counted_over_all_articles(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    for name, spent in {
        "a": {"chunk_embeddings": [{"model": "m", "calls": 3}], "image_descriptions": [{"model": "o", "calls": 9}]},
        "b": {"chunk_embeddings": [{"model": "m", "calls": 2}, {"model": "n", "calls": 1}]},
        "c": {},
    }.items():
        (tmp_path / "state" / f"{name}.json").write_text(json.dumps({"article_id": name, "spent": spent}))
    assert texts_embedded(tmp_path) == 6
    assert texts_embedded(tmp_path / "nothing yet") == 0


def test_descriptions_can_be_switched_off() -> None:
    assert open_analyzer(load_settings(analyzer=ANALYZER)).describe(b"a picture").description == ""


def test_passages_of_a_peer_are_scored_like_ours(tmp_path: Path) -> None:
    path = tmp_path / "known.jsonl"
    path.write_text(
        '{"question": "First?", "article_id": "a", "answer_span": "the answer", "paraphrase": "Eh?"}\n'
        '{"question": "Second?", "article_id": "b", "answer_span": "another one"}\n'
        '{"question": "Nothing?", "article_id": null}\n'
    )
    questions = read_questions(path)
    asked = Asked(questions, tuple(wordings([questions])))
    found = {
        "First?": [("a", "This is THE  answer."), ("b", "another one")],
        "Eh?": [("b", "the answer"), ("b", "more"), ("a", "elsewhere")],
        "Second?": [("a", "another one"), ("b", "not here"), ("b", "here: another one")],
        "Nothing?": [("a", "the answer")],
    }
    scores = scores_by_set([asked], [as_hits(found[wording.text]) for wording in asked.wordings])["known"]
    assert {name: scores[name]["all"]["value"] for name in scores} == {
        "article@1": 0.5,
        "article@5": 1.0,
        "MRR@10": 0.75,
        "span@5": 1.0,
    }
    assert {name: scores[name]["paraphrase"]["value"] for name in scores} == {
        "article@1": 0.0,
        "article@5": 1.0,
        "MRR@10": 0.5,
        "span@5": 0.0,
    }


def test_several_question_sets_take_their_own_rankings(tmp_path: Path) -> None:
    asked = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.jsonl"
        path.write_text(json.dumps({"question": f"{name}?", "article_id": name}))
        questions = read_questions(path)
        asked.append(Asked(questions, tuple(wordings([questions]))))
    scores = scores_by_set(asked, [as_hits([("one", "")]), as_hits([("one", "")])])
    assert [scores[name]["article@1"]["all"]["value"] for name in ("one", "two")] == [1.0, 0.0]
