"""A SharePoint site, and taking it in."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kb_pipeline.intake.running import Taken, run
from kb_pipeline.intake.sharepoint.source import SharePointOptions, SharePointSource
from kb_pipeline.settings import Settings
from kb_pipeline_tests.graph_service import SharePoint, sharepoint
from kb_pipeline_tests.managed_identity import signed_in

TakeIn = Callable[..., Taken]
ReadersOf = Callable[[str], object]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[SharePoint]:
    with signed_in(monkeypatch) as identity, sharepoint(identity) as made:
        yield made


@pytest.fixture
def take_in(site: SharePoint, settings: Settings) -> TakeIn:
    """Takes in the site, with these options, by this address of Graph."""

    def taken(graph: str = "", **options: object) -> Taken:
        once = Settings.model_validate({**settings.model_dump(), "attempts": 1, **options.pop("settings", {})})  # type: ignore[dict-item]
        given = {"url": site.site, "graph": graph or site.url, **options}
        return run(SharePointSource("site", SharePointOptions.model_validate(given), once), once)

    return taken


@pytest.fixture
def readers_of(staging: Path) -> ReadersOf:
    """Who may read an article."""
    return lambda article: facts_of(staging, article).get("access_control_list")


def facts_of(staging: Path, article: str) -> dict[str, object]:
    return dict(json.loads((staging / article / "metadata.json").read_text()))


def page_of(staging: Path, article: str) -> str:
    return (staging / article / "index.html").read_text()
