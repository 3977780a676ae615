"""What a change of settings would do, seen on a sample first: it is what a full run then does."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from kb_pipeline.analyzers.local import LocalAnalyzer
from kb_pipeline.errors import SettingsError
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Price, sections
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state, load_states
from kb_pipeline.upkeep.preview import SettingsPreview, changed_settings, preview
from kb_pipeline.upkeep.versions import version_diff
from kb_pipeline_tests.building import build_here, listing, page
from kb_pipeline_tests.conftest import Article, Ledger
from kb_pipeline_tests.doubles import LossyAnalyzer
from kb_pipeline_tests.evaluation.known import THINGS, lose, question, write_questions
from kb_pipeline_tests.pictures import screenshot

SAMPLES = Path(__file__).parents[2] / "samples" / "staging"
FIGURE = '<p><img src="form.image" alt="The form"></p></body>'
PROMPTED = "kb_pipeline_tests.doubles:PromptedAnalyzer"
HERE = "kb_pipeline_tests.doubles:WorkersHere"
Previewed = Callable[..., SettingsPreview]


@pytest.fixture
def live(settings: Settings) -> Settings:
    """The settings of the live home; a preview builds in this process."""
    return settings.model_copy(update={"engine": HERE})


def changes_of(workspace: Workspace, before: Mapping[str, str]) -> dict[str, str]:
    """The diffs of what readers see now against the versions that they saw before, by article."""
    now = versions(workspace)
    return {
        key: version_diff(workspace.layout, key, before[key], now[key]) if before[key] != now[key] else ""
        for key in now
    }


def versions(workspace: Workspace) -> dict[str, str]:
    return {state.article_id: state.published_version or "" for state in load_states(workspace.layout)}


def section_counts(settings: Settings) -> dict[str, int]:
    layout = Workspace(settings).layout
    ids = versions(Workspace(settings)).items()
    return {key: len(sections(load_chunks(layout, key, version))) for key, version in ids}


def embedded(settings: Settings) -> int:
    states = load_states(Workspace(settings).layout)
    return sum(used.calls for state in states for used in state.spent.get("chunk_embeddings", ()))


def files_of(home: Path) -> dict[str, bytes]:
    """All files of a home but locks, which everybody who reads an article touches, and what was said of images."""
    shared = ("locks/", "descriptions/by-content/", "copies/descriptions/by-content/")
    return {name: data for name, data in listing(home).items() if not name.startswith(shared)}


class TestAnotherChunkSize:
    @pytest.fixture
    def samples(self, live: Settings, ledger: Ledger) -> Settings:
        """Three of the sample articles, whose images need no OCR."""
        for name in ("sla-policies", "webhooks", "rest-api"):
            shutil.copytree(SAMPLES / name, Path(live.staging) / name)
        settings = live.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:PaidAnalyzer"})
        build_here(settings)
        return settings

    @pytest.mark.slow("builds a whole knowledge base")
    def test_a_full_run_then_does_what_was_shown(self, samples: Settings) -> None:
        found = preview(Workspace(samples), {"KB_CHUNK_MAX_TOKENS": "120"})
        before, embedded_before = section_counts(samples), embedded(samples)
        published = versions(Workspace(samples))
        assert {one.article_id: one.before.count for one in found.articles if one.before} == before
        build_here(samples.model_copy(update={"chunk_max_tokens": 120}))
        after = section_counts(samples)
        assert {one.article_id: one.after.count for one in found.articles if one.after} == after
        assert sum(after.values()) > sum(before.values())
        assert sum(one.embedded for one in found.articles) == found.full.texts == embedded(samples) - embedded_before
        assert {one.article_id: one.diff for one in found.articles} == changes_of(Workspace(samples), published)

    @pytest.mark.slow("builds a whole knowledge base")
    def test_the_live_home_stays_as_it_is(self, samples: Settings) -> None:
        before = files_of(Path(samples.home))
        preview(Workspace(samples), {"KB_CHUNK_MAX_TOKENS": "120"})
        assert files_of(Path(samples.home)) == before
        assert not (Path(samples.home) / "previews").exists()

    @pytest.mark.slow("builds a whole knowledge base")
    def test_models_and_networks_of_the_live_home_are_at_hand(self, samples: Settings) -> None:
        for name in ("models", "network"):
            (Path(samples.home) / name).mkdir(exist_ok=True)
        found = preview(Workspace(samples), {"KB_CHUNK_MAX_TOKENS": "120"}, ["webhooks"])
        assert [one.failure for one in found.articles] == [""]

    @pytest.mark.slow("builds a whole knowledge base")
    def test_only_the_layers_that_depend_on_it_are_made(self, samples: Settings) -> None:
        found = preview(Workspace(samples), {"KB_CHUNK_MAX_TOKENS": "120"})
        assert {layer for one in found.articles for layer in one.made} == {"chunks", "chunk_embeddings"}
        assert (found.waiting.articles, found.full.articles) == (0, 3)
        assert (found.full.layers["image_descriptions"], found.full.layers["chunks"]) == (0, 3)


class TestAnotherPrompt:
    @pytest.fixture
    def prompt(self, tmp_path: Path) -> dict[str, str]:
        (tmp_path / "prompt.txt").write_text("Name the window.")
        return {"KB_IMAGE_PROMPT_FILE": str(tmp_path / "prompt.txt")}

    @pytest.fixture
    def described(self, live: Settings, article: Article, ledger: Ledger) -> Settings:
        """Three articles, two of them with an image that a paid model described."""
        for name in ("one", "two"):
            article(name, page(name).replace("</body>", FIGURE), {"form.image": screenshot(name, "Save")})
        article("plain", page("plain"))
        prices = (Price(model="paid-vision-1", input_tokens=2, output_tokens=8),)
        settings = live.model_copy(update={"analyzer": PROMPTED, "prices": prices})
        build_here(settings)
        return settings

    @pytest.mark.slow("builds a whole knowledge base")
    def test_a_full_run_then_does_what_was_shown(
        self, described: Settings, prompt: dict[str, str], ledger: Ledger
    ) -> None:
        found = preview(Workspace(described), prompt)
        published, paid = versions(Workspace(described)), len(ledger())
        diffs = {one.article_id: one.diff for one in found.articles}
        assert "Name the window. A picture that begins with" in diffs["one"]
        assert diffs["plain"] == ""
        assert found.full.images == 0, "they are described now"
        build_here(changed_settings(described, prompt))
        assert diffs == changes_of(Workspace(described), published)
        assert len(ledger()) == paid

    def test_money_is_told_for_the_sample_and_for_the_rest(self, described: Settings, prompt: dict[str, str]) -> None:
        found = preview(Workspace(described), prompt, ["one"])
        price = (1000 * 2 + 200 * 8) / 1e6
        assert sum(used.cost or 0 for used in found.spent["image_descriptions"]) == pytest.approx(price)
        use = next(use for use in found.full.models if use.layer == "image_descriptions")
        assert (use.units, use.cost) == (1, pytest.approx(price))

    @pytest.mark.slow("builds a whole knowledge base")
    def test_what_was_paid_for_is_not_paid_for_again(
        self, described: Settings, prompt: dict[str, str], ledger: Ledger
    ) -> None:
        preview(Workspace(described), prompt)
        paid = len(ledger())
        preview(Workspace(described), prompt)
        found = preview(Workspace(described), {"KB_CHUNK_MAX_TOKENS": "40"})
        assert len(ledger()) == paid
        assert sum(one.described for one in found.articles) == 0

    def test_an_analyzer_without_a_prompt_is_refused(self, live: Settings, prompt: dict[str, str]) -> None:
        with pytest.raises(SettingsError, match="KB_ANALYZER=local describes images without a prompt of yours"):
            preview(Workspace(live), prompt)


class TestScores:
    @pytest.fixture
    def asked(self, live: Settings, things_published: None) -> Settings:
        write_questions(Path(live.home) / "evaluation", map(question, THINGS))
        return live

    @pytest.mark.slow("builds a whole knowledge base")
    def test_known_questions_are_asked_before_and_after(self, asked: Settings) -> None:
        lose(asked, THINGS[:5])
        found = preview(Workspace(asked), {})
        assert found.scores is not None
        assert found.scores.questions == len(THINGS)
        assert found.scores.before["article@1"]["all"].value > found.scores.after["article@1"]["all"].value
        lost = found.scores.comparison.of("lost")
        assert {change.after.article_id for change in lost} == set(THINGS[:5])

    @pytest.mark.slow("builds a whole knowledge base")
    def test_only_questions_that_the_sample_answers_are_asked(self, asked: Settings) -> None:
        found = preview(Workspace(asked), {"KB_CHUNK_MAX_TOKENS": "800"}, THINGS[:3])
        assert found.scores is not None
        assert found.scores.questions == 3
        assert found.scores.comparison.changes == ()

    @pytest.mark.slow("builds a whole knowledge base")
    def test_articles_with_questions_are_chosen_first(self, live: Settings, things_published: None) -> None:
        write_questions(Path(live.home) / "evaluation", [question("teapot")])
        found = preview(Workspace(live), {}, size=4)
        assert found.articles[0].article_id == "teapot"
        again = preview(Workspace(live), {}, size=4)
        assert [one.article_id for one in again.articles] == [one.article_id for one in found.articles]

    def test_without_questions_it_says_how_to_add_some(self, live: Settings, things_published: None) -> None:
        found = preview(Workspace(live), {}, THINGS[:1])
        assert found.scores is None
        assert "there are no known questions; put *.jsonl files into" in found.no_scores


class TestFailures:
    @pytest.fixture
    def published(self, live: Settings, article: Article, ledger: Ledger) -> Settings:
        lost = page("picture").replace("</body>", '<p><img src="lost.image" alt="The form"></p></body>')
        article("picture", lost, {"lost.image": screenshot("New ticket")})
        article("words", page("words"))
        build_here(live)
        return live

    @pytest.mark.slow("builds a whole knowledge base")
    def test_an_article_that_would_fail_is_named(self, published: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(LossyAnalyzer, "converter", "lossy-1")
        found = preview(Workspace(published), {"KB_ANALYZER": "kb_pipeline_tests.doubles:LossyAnalyzer"})
        failures = {one.article_id: one.failure for one in found.articles if one.failure}
        assert failures.keys() == {"picture"}
        assert "images_are_placed" in failures["picture"]
        assert load_state(Workspace(published).layout, "picture").failure is None

    def test_the_folder_is_gone_after_an_interrupt(self, published: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupt(*_: object) -> None:
            raise KeyboardInterrupt

        before = files_of(Path(published.home))
        monkeypatch.setattr(LocalAnalyzer, "convert", interrupt)
        with pytest.raises(KeyboardInterrupt):
            preview(Workspace(published), {"KB_ANALYZER": "kb_pipeline_tests.doubles:RenamedAnalyzer"})
        assert files_of(Path(published.home)) == before
        assert not (Path(published.home) / "previews").exists()

    def test_what_a_killed_preview_left_is_removed(self, published: Settings) -> None:
        left = Path(published.home) / "previews" / "preview-killed"
        left.mkdir(parents=True)
        (left / "in-use.lock").touch()
        preview(Workspace(published), {}, ["words"])
        assert not left.exists()


class TestRefusals:
    @pytest.mark.parametrize(
        ("variable", "value", "said"),
        [
            ("KB_CHUNK_MAX_TOKEN", "5", "KB_CHUNK_MAX_TOKEN is not a setting; did you mean KB_CHUNK_MAX_TOKENS"),
            ("chunk_max_tokens", "5", "chunk_max_tokens is not a setting"),
            ("KB_CHUNK_MAX_TOKENS", "many", "KB_CHUNK_MAX_TOKENS: Input should be a valid integer"),
            ("KB_CHUNK_MIN_TOKENS", "9000", "KB_CHUNK_MIN_TOKENS is larger than KB_CHUNK_MAX_TOKENS"),
            *(
                (name, "x", f"{name} cannot be previewed: it does not decide what is made of an article")
                for name in ("KB_HOME", "KB_STAGING", "KB_SERVING", "KB_INDEX", "KB_INDEX_URI", "KB_OPENAI_API_KEY")
            ),
        ],
    )
    def test_it_is_refused(self, live: Settings, variable: str, value: str, said: str) -> None:
        with pytest.raises(SettingsError) as refused:
            preview(Workspace(live), {variable: value})
        assert said in str(refused.value)

    def test_an_article_that_is_not_staged_is_refused(self, live: Settings) -> None:
        with pytest.raises(SettingsError, match=r"no article in .*: nowhere"):
            preview(Workspace(live), {}, ["nowhere"])

    def test_without_a_published_article_there_is_nothing_to_compare_with(self, live: Settings) -> None:
        with pytest.raises(SettingsError, match=r"nothing was published yet .*; run: kb ingest"):
            preview(Workspace(live), {})
