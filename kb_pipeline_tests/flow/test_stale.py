"""Which articles a build would have something to do for, and why."""

import os
from pathlib import Path

import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.errors import StorageError, TransientError
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.stale import stale_articles
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.upkeep.versions import pin, release
from kb_pipeline_tests.building import AT, build_here, made_once, page, stage
from kb_pipeline_tests.conftest import Article

ONE = '<p>See <a href="../two/index.html">two</a>.</p></body>'


@pytest.fixture(autouse=True)
def published(settings: Settings) -> None:
    made_once(publish_one, settings)


def publish_one(settings: Settings) -> None:
    stage(settings, "one", page("one").replace("</body>", ONE))
    build_here(settings)


def stale(settings: Settings) -> dict[str, tuple[str, str]]:
    """Layer and reason by article."""
    found = stale_articles(Workspace(settings))
    return {each.article_id: (each.layer, each.reason) for each in found}


def changed(settings: Settings, **values: object) -> Settings:
    return settings.model_copy(update=values)


def test_what_is_as_it_should_be_is_not_stale(settings: Settings) -> None:
    assert stale(settings) == {}


def test_a_new_article_is(settings: Settings, article: Article) -> None:
    article("new", page("new"))
    assert stale(settings) == {"new": ("staged_article", "new")}


def test_a_changed_one_is(settings: Settings, article: Article) -> None:
    article("one", page("one", "other words"))
    assert stale(settings) == {"one": ("staged_article", "changed in staging")}


def test_a_file_that_was_only_touched_is_looked_at_once(settings: Settings) -> None:
    os.utime(Path(settings.staging) / "one" / "index.html", (1, 1))
    assert stale(settings).keys() == {"one"}
    build_here(settings)
    assert stale(settings) == {}


def test_what_is_no_article_is_not(settings: Settings) -> None:
    (Path(settings.staging) / "no-page").mkdir()
    (Path(settings.staging) / "_hidden").mkdir()
    assert stale(settings) == {}


def test_one_whose_state_is_damaged_is_not_while_its_copy_is_good(settings: Settings) -> None:
    (Path(settings.home) / "state" / "one.json").write_text("{ torn")
    assert stale(settings) == {}
    (Path(settings.home) / "copies" / "state" / "one.json").write_text("{ torn")
    assert stale(settings).keys() == {"one"}


def test_one_whose_links_lead_to_an_article_that_is_new_is(settings: Settings, article: Article) -> None:
    article("two", page("two"))
    build_here(settings, "two")
    assert stale(settings) == {"one": ("serving_article", "serving_article is of other code, options or inputs")}


@pytest.mark.parametrize(
    ("name", "value", "layer"),
    [
        ("analyzer", "kb_pipeline_tests.doubles:RenamedAnalyzer", "converted_markdown"),
        ("embedder", "kb_pipeline_tests.doubles:OtherEmbedder", "chunks"),
        ("chunk_max_tokens", 30, "chunks"),
    ],
)
def test_another_backend_or_option_makes_its_layer_stale(
    settings: Settings, name: str, value: object, layer: str
) -> None:
    other = changed(settings, **{name: value})
    assert stale(other) == {"one": (layer, f"{layer} is of other code, options or inputs")}
    build_here(other)
    assert stale(other) == {}


@pytest.mark.parametrize(
    ("attribute", "layer"), [("prompt_version", "image_descriptions"), ("image_model", "image_descriptions")]
)
def test_another_prompt_or_vision_model_makes_descriptions_stale(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, attribute: str, layer: str
) -> None:
    monkeypatch.setattr(LocalAnalyzer, attribute, "next")
    assert {key: found[0] for key, found in stale(settings).items()} == {"one": layer}


def test_a_backend_that_cannot_be_opened_is_the_reason(settings: Settings) -> None:
    ((layer, reason),) = stale(changed(settings, analyzer="nosuch")).values()
    assert layer == "converted_markdown"
    assert "nosuch" in reason


class TestFailures:
    @pytest.fixture
    def failing(self, settings: Settings, article: Article, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
        def away(*_: object) -> None:
            raise TransientError("the service is busy", retry_after=0)

        monkeypatch.setattr(LocalAnalyzer, "convert", away)
        article("one", page("one", "other words"))
        build_here(settings)
        return monkeypatch

    def test_one_that_failed_for_now_is_stale_where_it_failed(
        self, settings: Settings, failing: pytest.MonkeyPatch
    ) -> None:
        assert stale(settings) == {"one": ("converted_markdown", "failed for now")}

    @pytest.mark.parametrize("was_published", [True, False])
    def test_one_that_failed_for_good_waits_for_its_source(
        self, settings: Settings, article: Article, was_published: bool
    ) -> None:
        name = "one" if was_published else "never"
        article(name, "<body></body>")
        build_here(settings)
        assert stale(settings) == {}
        article(name, page(name))
        assert stale(settings) == {name: ("staged_article", "changed in staging")}

    @pytest.mark.parametrize("was_published", [True, False])
    def test_or_for_other_code(self, settings: Settings, article: Article, was_published: bool) -> None:
        name = "one" if was_published else "never"
        article(name, "<body></body>")
        build_here(settings)
        other = changed(settings, analyzer="kb_pipeline_tests.doubles:RenamedAnalyzer")
        assert stale(other)[name] == ("converted_markdown", "converted_markdown failed with other code or options")
        build_here(other)
        assert name not in stale(other)

    def test_code_that_comes_after_the_failing_layer_does_not_help(self, settings: Settings, article: Article) -> None:
        article("one", "<body></body>")
        build_here(settings)
        assert stale(changed(settings, chunk_max_tokens=30)) == {}


class TestPublication:
    def test_what_was_made_and_never_published_is_to_be_published(self, settings: Settings, article: Article) -> None:
        article("new", page("new"))
        build_here(settings, "new", layers=LAYER_NAMES[:-1])
        (found,) = stale(settings).values()
        assert found == ("staged_article", "not published yet"), "nobody says that the attempt was completed"

    def test_a_newer_version_that_a_killed_run_did_not_publish_is(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(LocalAnalyzer, "convert", _louder)
        other = changed(settings, analyzer="kb_pipeline_tests.doubles:RenamedAnalyzer")
        build_here(other, layers=LAYER_NAMES[:-1])
        assert stale(other) == {"one": ("search_index", "not published")}
        build_here(other)
        assert stale(other) == {}

    def test_layers_that_a_killed_run_did_not_make_are(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(LocalAnalyzer, "convert", _louder)
        other = changed(settings, analyzer="kb_pipeline_tests.doubles:RenamedAnalyzer")
        build_here(other, layers=LAYER_NAMES[:2])
        assert stale(other)["one"][0] == "image_descriptions"

    def test_a_version_that_is_to_be_put_back_is_until_it_was(self, settings: Settings, article: Article) -> None:
        article("one", page("one", "worse words"))
        build_here(settings)
        pin(Workspace(settings), "one", None, Run("r", AT))
        assert stale(settings)["one"][0] == "serving_article"
        build_here(settings)
        assert stale(settings) == {}
        release(Workspace(settings), "one")
        assert stale(settings)["one"][0] == "serving_article"


def _louder(self: LocalAnalyzer, *arguments: object) -> object:
    from kb_pipeline.steps.html import convert_html

    converted = convert_html(*arguments)  # type: ignore[arg-type]
    return converted.model_copy(update={"markdown": converted.markdown.replace("plain", "PLAIN")})


def test_without_a_staging_folder_nothing_is_known(settings: Settings) -> None:
    with pytest.raises(StorageError, match="KB_STAGING"):
        stale(changed(settings, staging=f"{settings.staging}-gone"))
