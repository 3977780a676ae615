"""The page of contributions: what waits, what accepting would change, and the decision."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Selectbox

from app.api.server import create_app
from app.client import Client
from app.page.contributions import diff_html, list_html
from app.schema.contributions import ContributionItem, NewContribution
from app.settings import AppSettings
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.conftest import ask_at, html
from kb_pipeline_tests.app.page.test_shown import EVIL
from kb_pipeline_tests.app.serving import serving_app

NEW = NewContribution(service="layers", description="Cropping hides", content="Cropped parts are *hidden*, not gone.")


@dataclass(frozen=True)
class Desk:
    """A page, the client of its service, and the staging folder."""

    client: Client
    staging: Path
    look: Callable[..., AppTest]


@pytest.fixture
def desk(knowledge_base: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    shutil.copytree(knowledge_base.home, tmp_path / "home")
    shutil.copytree(knowledge_base.staging, tmp_path / "staging")
    own = {"home": str(tmp_path / "home"), "staging": str(tmp_path / "staging"), "uploaders": ("local",)}

    def script() -> None:
        from app.page import contributions

        contributions.show()

    def look(contribution_id: str = "", **query: str) -> AppTest:
        page = AppTest.from_function(script, default_timeout=30)
        for name, value in {"contribution": contribution_id, **query}.items():
            if value:
                page.query_params[name] = value
        return page.run()

    with serving_app(create_app(AppSettings(), knowledge_base.model_copy(update=own))) as url:
        yield Desk(ask_at(url, monkeypatch), tmp_path / "staging", look)


def test_the_list_begins_empty_and_then_has_states_and_counts(desk: Desk) -> None:
    page = desk.look()
    assert "Nothing waits for a reviewer" in html(page)
    assert "is listed" in html(page)
    new = desk.client.contribute(NEW)
    page = desk.look()
    assert list(page.button_group(key="contributions-state").options) == ["Pending (1)", "Accepted (0)", "Rejected (0)"]
    assert f'href="contributions?contribution={new.id}" data-kb="open">Cropping hides</a>' in html(page)
    page = page.button_group(key="contributions-state").set_value("rejected").run()
    assert "Nothing was rejected" in html(page)


def test_one_is_shown_rendered_with_what_it_changes_and_what_is_near(desk: Desk) -> None:
    page = html(desk.look(desk.client.contribute(NEW).id))
    assert "<em>hidden</em>" in page
    assert "layers-notes › Common Pitfalls" in page
    assert "<ins>+### Cropping hides</ins>" in page
    assert 'href="knowledge-base?article=layers&amp;section=' in page


def test_something_is_proposed_that_a_gap_led_to(desk: Desk) -> None:
    page = desk.look(question="What do layers cost?", article="layers")
    assert page.expander[0].proto.expanded
    assert page.selectbox(key="contribution-article").value == "layers"
    assert page.text_input[0].value == "What do layers cost?"
    page.text_area[0].set_value("")
    page = next(button for button in page.button if button.label == "Propose").click().run()
    assert "This did not work" in html(page)
    assert desk.client.contributions().total == 0
    page.text_area[0].set_value("Layers cost nothing.")
    kind_of(page).set_value("Tool pattern")
    next(button for button in page.button if button.label == "Propose").click().run()
    [new] = desk.client.contributions().contributions
    assert (new.service, new.description, new.type) == ("layers", "What do layers cost?", "Tool pattern")


def kind_of(page: AppTest) -> Selectbox:
    return next(box for box in page.selectbox if box.label == "Type")


def press(page: AppTest, label: str) -> AppTest:
    return next(button for button in page.button if button.label == label).click().run()


def test_the_form_offers_the_articles_that_one_may_read_by_title_and_begins_with_an_answer(desk: Desk) -> None:
    page = desk.look()
    picker = page.selectbox(key="contribution-article")
    assert picker.value is None
    assert picker.options == ["Layers · layers", "Printing · printing", "Toner · hostile", "A new article"]
    assert kind_of(page).value == "Answer"


def test_a_new_article_is_named(desk: Desk) -> None:
    page = desk.look(question="What do pumps cost?").selectbox(key="contribution-article").set_value("").run()
    page.text_input(key="contribution-new-article").set_value("pumps").run()
    page.text_area[0].set_value("Nothing.")
    press(page, "Propose")
    assert [each.service for each in desk.client.contributions().contributions] == ["pumps"]


def test_without_an_article_nothing_is_proposed(desk: Desk) -> None:
    page = desk.look(question="What do pumps cost?")
    page.text_area[0].set_value("Nothing.")
    assert "Choose an article" in html(press(page, "Propose"))
    assert desk.client.contributions().total == 0


def test_of_very_many_articles_those_with_some_words_are_offered(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.page.contributions._MOST_PICKED", 2)
    page = desk.look().text_input(key="contribution-find").set_value("ton").run()
    assert page.selectbox(key="contribution-article").options == ["Toner · hostile", "A new article"]


def test_a_preview_shows_what_readers_will_see_and_hands_nothing_in(desk: Desk) -> None:
    page = desk.look(question="Are <b>cropped</b> parts gone?", article="layers")
    page.text_area[0].set_value("No, they are *hidden*.\n\n| a | b |\n|--|--|\n| 1 | 2 |")
    page = press(page, "Preview")
    _, _, shown = html(page).partition("What readers will see in layers-notes › Questions and answers")
    assert "Are &lt;b&gt;cropped&lt;/b&gt; parts gone?</h3>" in shown
    assert "<em>hidden</em>" in shown
    assert "<td>1</td>" in shown
    assert desk.client.contributions().total == 0
    press(page, "Propose")
    [new] = desk.client.contributions().contributions
    assert (new.type, new.section) == ("Answer", "Questions and answers")


def test_a_preview_of_what_cannot_be_accepted_says_why(desk: Desk) -> None:
    page = desk.look(question="Are parts gone?", article="layers")
    page.text_area[0].set_value("![x](y.png)")
    assert "shows the image" in html(press(page, "Preview"))


def test_who_hands_in_a_file_sees_what_holds_if_they_write_nothing(desk: Desk) -> None:
    page = desk.look()
    shown = {name: page.text_input(key=f"upload-{name}").placeholder for name in ("title", "article", "readers")}
    assert shown == {
        "title": "The file's own",
        "article": "Its id; by default the file's name",
        "readers": "Everybody",
    }


def test_accepting_writes_the_edited_text_into_the_section(desk: Desk) -> None:
    new = desk.client.contribute(NEW)
    page = desk.look(new.id)
    page.text_input(key=f"section-{new.id}").set_value("Limits")
    page.text_area(key=f"content-{new.id}").set_value("Edited text.")
    page = next(button for button in page.button if button.label == "Accept").click().run()
    assert "Accepted" in html(page)
    assert "It stands in the staging folder" in html(page)
    assert not page.text_area, "it is decided"
    text = (desk.staging / "layers-notes" / "index.md").read_text()
    assert text.startswith("# Layers: notes\n\n## Limits\n\n### Cropping hides\n\nEdited text.\n")


def test_rejecting_needs_a_reason_that_is_kept(desk: Desk) -> None:
    new = desk.client.contribute(NEW)
    page = desk.look(new.id)
    page = next(button for button in page.button if button.label == "Reject").click().run()
    assert "Say why it is rejected." in html(page)
    page.text_input(key=f"reason-{new.id}").set_value("It is known.")
    page = next(button for button in page.button if button.label == "Reject").click().run()
    assert "It is known." in html(page)
    assert not (desk.staging / "layers-notes").exists()


def test_what_cannot_be_put_there_is_said(desk: Desk) -> None:
    new = desk.client.contribute(NEW)
    page = desk.look(new.id)
    page.text_area(key=f"content-{new.id}").set_value("![x](y.png)")
    page = next(button for button in page.button if button.label == "Accept").click().run()
    assert "This did not work" in html(page)
    assert "shows the image" in html(page)
    assert "Pending" in html(page)


def test_one_that_is_not_there_is_said(desk: Desk) -> None:
    assert "This contribution was not found" in html(desk.look("20260101-00000000"))


def test_hostile_text_is_shown_literally() -> None:
    item = ContributionItem(
        id=EVIL,
        state="pending",
        service=EVIL,
        type="Pitfall",
        description=EVIL,
        source="manual",
        contributed_by=EVIL,
        contributed_at=EVIL,
        article_id=EVIL,
        section=EVIL,
    )
    for shown in (list_html([item]), diff_html(f"+{EVIL}\n-{EVIL}\n {EVIL}\n@@ {EVIL}")):
        assert "<script" not in shown
        assert "<img" not in shown
