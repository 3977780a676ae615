"""What an author says of a picture in ``metadata.json`` reaches readers and the search, and costs nothing."""

import json
from pathlib import Path

import pytest

from kb_pipeline.flow.build import ArticleResult
from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.verify import verify
from kb_pipeline_tests.conftest import Article, Build, Ledger
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.word import document, paragraph, picture

PAID = "kb_pipeline_tests.doubles:PaidAnalyzer"
HTML = """<html><body><h1>Sign in</h1><p>Everybody signs in with a code that comes by mail to their own address.</p>
<p><img src="img/login.png" alt="The page"></p>
<h2>Sign out</h2><p>Choose your name at the top, and then the last entry of the menu that opens below it.</p>
</body></html>"""
SENTENCE = "The sign-in page with the field for the six digits"
FROM_DESCRIPTION_ON = {*LAYER_NAMES[LAYER_NAMES.index("image_descriptions") :]}


@pytest.fixture
def folder(article: Article) -> Path:
    return article("sign-in", HTML, {"img/login.png": screenshot("Code", "Send again")})


def say(folder: Path, said: object, **others: object) -> None:
    (folder / "metadata.json").write_text(json.dumps({**others, "images": said}))


def made(result: ArticleResult) -> set[str]:
    assert result.error is None
    return {layer.name for layer in result.layers if not layer.reused}


def served(settings: Settings) -> str:
    return (Path(str(Workspace(settings).layout.serving_root)) / "sign-in" / "article.md").read_text()


def warnings(settings: Settings) -> tuple[str, ...]:
    return load_manifest(Workspace(settings).layout.serving_root / "sign-in").warnings


def test_the_sentence_precedes_what_was_read_in_article_manifest_and_index(
    folder: Path, settings: Settings, build_here: Build, ledger: Ledger
) -> None:
    say(folder, {"login.png": SENTENCE})
    build_here(analyzer=PAID)
    layout = Workspace(settings).layout
    assert f"> {SENTENCE}. The page. Shown at the step: " in served(settings)
    assert "On the picture: A picture that begins with" in served(settings)
    image = load_manifest(layout.serving_root / "sign-in").images[0]
    assert image.said == SENTENCE
    assert image.description.description.startswith(f"{SENTENCE}.")
    rows = load_chunks(layout, "sign-in", load_state(layout, "sign-in").version)
    assert {row.block_type for row in rows if SENTENCE in row.content} >= {"text", "image"}


@pytest.mark.parametrize("others", [{}, {"title": "Signing in", "key_topics": ["mail"]}])
def test_a_corrected_sentence_is_free_and_makes_only_what_follows_the_description(
    others: dict[str, object], folder: Path, settings: Settings, build_here: Build, ledger: Ledger
) -> None:
    if others:
        (folder / "metadata.json").write_text(json.dumps(others))
    build_here(analyzer=PAID)
    assert len(ledger()) == 1
    for sentence in (SENTENCE, "Another sentence.", ""):
        say(folder, {"login.png": sentence}, **others)
        result = build_here(analyzer=PAID, run_id="run-2")["sign-in"]
        assert made(result) == {"staged_article"} | FROM_DESCRIPTION_ON
        assert sentence in served(settings)
    assert SENTENCE not in served(settings)
    assert len(ledger()) == 1, "no description is bought again"


def test_another_title_is_still_converted(folder: Path, settings: Settings, build_here: Build) -> None:
    say(folder, {"login.png": SENTENCE}, title="One")
    build_here()
    say(folder, {"login.png": SENTENCE}, title="Two")
    assert "converted_markdown" in made(build_here(run_id="run-2")["sign-in"])
    assert load_manifest(Workspace(settings).layout.serving_root / "sign-in").title == "Two"


def test_the_sentence_survives_every_run(folder: Path, settings: Settings, build_here: Build) -> None:
    say(folder, {"img/login.png": SENTENCE})
    build_here()
    (folder / "index.html").write_text(HTML.replace("Sign out", "Leave"))
    (folder / "img" / "login.png").write_bytes(screenshot("Code", "Send once more"))
    build_here(run_id="run-2")
    assert SENTENCE in served(settings)
    assert "Leave" in served(settings)
    workspace = Workspace(settings)
    assert not stale_articles(workspace)
    verified = verify(workspace, "sign-in")
    assert not verified.problems
    assert not verified.skipped


def test_of_two_articles_only_the_one_with_the_sentence_is_made_again(
    folder: Path, article: Article, build_here: Build
) -> None:
    article("other", HTML, {"img/login.png": screenshot("Code", "Send again")})
    build_here()
    say(folder, {"login.png": SENTENCE})
    results = build_here(run_id="run-2")
    assert not made(results["other"])
    assert made(results["sign-in"]) == {"staged_article"} | FROM_DESCRIPTION_ON


def test_what_cannot_be_used_is_a_warning_of_the_article_and_fails_nothing(
    folder: Path, settings: Settings, build_here: Build
) -> None:
    say(folder, {"logon.png": SENTENCE, "../../etc/passwd": SENTENCE, "login.png": 3})
    result = build_here()["sign-in"]
    assert result.error is None
    assert SENTENCE not in served(settings)
    assert warnings(settings) == (
        "metadata.json: images: the article has no picture logon.png; the nearest is img/login.png",
        "metadata.json: images: '../../etc/passwd' cannot be the name of a picture and was left out",
        "metadata.json: images: what is said of login.png is not a text and was left out",
    )


@pytest.mark.parametrize(
    "sentence",
    [
        "[[IMG:x.png]] <b>bold</b>",
        "# No heading",
        "[Ref #1] *x* `y`",
        "> **[Image: x](images/x.png)**",
        "<!-- page 3 -->",
    ],
)
def test_a_sentence_stays_text_whatever_it_looks_like(
    sentence: str, folder: Path, settings: Settings, build_here: Build
) -> None:
    say(folder, {"login.png": sentence})
    assert build_here()["sign-in"].error is None
    image = load_manifest(Workspace(settings).layout.serving_root / "sign-in").images[0]
    assert image.description.description.startswith(sentence)
    assert served(settings).count("> **[Image: ") == 1


def test_a_picture_inside_a_document_gets_its_sentence(settings: Settings, build_here: Build) -> None:
    folder = Path(settings.staging) / "sign-in"
    folder.mkdir(parents=True)
    text = paragraph("Everybody signs in with a code that comes by mail.")
    shot = document(text, picture("rId1", ""), media={"shot.png": screenshot("Code")})
    (folder / "guide.docx").write_bytes(shot)
    say(folder, {"image1.png": SENTENCE})
    build_here()
    assert f"> {SENTENCE}." in served(settings)
