"""What a contribution looks like for readers, told by the conversion that will publish it."""

from pathlib import Path

import pytest

from kb_pipeline.contributions.base import Contribution
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.contributions.previewing import seen_by_readers
from kb_pipeline.contributions.proposing import Proposal, preview
from kb_pipeline.contributions.review import Review
from kb_pipeline.errors import ContributionError
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings

pytestmark = pytest.mark.slow("converts in a process of its own")

ARTICLE = """# Printers

The printers of the house.

![The tray](tray.png)

## Questions and answers

### How do I print?

Press *Print*.

## Limits

None.
"""


def shown(settings: Settings, description: str, content: str, **options: str) -> str:
    workspace, queue = open_workspace(settings), FolderQueue(Path(settings.home) / "contributions")
    proposal = Proposal("printers", description, content, **{"type": "Answer", **options})
    contribution: Contribution = preview(workspace, queue, proposal).contribution
    change = Review(queue, workspace.staging).change(contribution, "me")
    return seen_by_readers(settings, contribution, change)


def stage(settings: Settings, text: str = ARTICLE) -> None:
    folder = Path(settings.staging) / "printers"
    folder.mkdir(parents=True)
    (folder / "index.md").write_text(text)


def test_it_stands_below_its_heading_without_the_rest_of_the_article(settings: Settings) -> None:
    stage(settings)
    text = shown(
        settings, "What clears a *jam*?", "Open the rear tray.\n\n1. Pull.\n2. Close.\n\n| a | b |\n|--|--|\n| 1 | 2 |"
    )
    assert text.startswith("### What clears a \\*jam\\*?\n\nOpen the rear tray.")
    assert "1. Pull.\n2. Close." in text
    assert "| a | b |" in text
    for other in ("The printers of the house", "How do I print", "Limits", "Contributed by"):
        assert other not in text


def test_html_is_shown_as_text_as_readers_will_see_it(settings: Settings) -> None:
    stage(settings)
    assert shown(settings, "Is it bold?", "It is <b>not</b>.").endswith("It is \\<b>not\\</b>.")


def test_a_title_of_its_own_takes_the_place_of_the_description(settings: Settings) -> None:
    stage(settings)
    text = shown(settings, "A jam", "# Jams\n\nOpen the rear tray.")
    assert text.startswith("## Questions and answers\n\n### How do I print?")
    assert text.endswith("### Jams\n\nOpen the rear tray.")


def test_a_new_article_is_shown_whole(settings: Settings) -> None:
    Path(settings.staging).mkdir(parents=True, exist_ok=True)
    text = shown(settings, "Printers of the house", "They print.\n\n## Limits\n\nNone.", type="New service")
    assert text == "# Printers of the house\n\nThey print.\n\n## Limits\n\nNone."


def test_an_article_that_would_not_be_published_says_why(settings: Settings) -> None:
    stage(settings, "---\nreaders: [hr]\n---\n# Printers\n\nText.\n")
    with pytest.raises(ContributionError, match=r"cannot become an article: printers: the front matter"):
        shown(settings, "A jam", "Open the rear tray.")
