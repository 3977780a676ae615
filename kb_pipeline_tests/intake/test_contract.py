"""What every source promises, whatever it reads: each runs through all of these."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.intake.base import IntakeSource, Item
from kb_pipeline.intake.running import preview, run
from kb_pipeline.settings import Settings
from kb_pipeline.store.staging import Staging
from kb_pipeline_tests.confluence_service import confluence
from kb_pipeline_tests.dovecot import running_dovecot
from kb_pipeline_tests.graph_service import sharepoint
from kb_pipeline_tests.intake.conftest import (
    PROSE,
    ConfluenceTree,
    FolderTree,
    GitTree,
    ImapMailbox,
    MailFolder,
    SharePointTree,
    WikiTree,
    ZendeskTree,
    ZipTree,
    page,
)
from kb_pipeline_tests.intake.website.site import SiteTree
from kb_pipeline_tests.managed_identity import signed_in
from kb_pipeline_tests.mediawiki import running_wiki
from kb_pipeline_tests.zendesk_service import help_center

Tree = FolderTree | SiteTree
KINDS: Mapping[str, Callable[[Path], Tree]] = {
    "folder": FolderTree, "zip": ZipTree, "git": GitTree, "website": SiteTree, "mail": MailFolder
}  # fmt: skip


@pytest.fixture(
    params=[
        *KINDS,
        "confluence",
        "sharepoint",
        "zendesk",
        pytest.param("mediawiki", marks=pytest.mark.rare("starts a wiki, which apt must have")),
        pytest.param("imap", marks=pytest.mark.rare("starts Dovecot, which apt must have")),
    ]
)
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Tree]:
    if request.param == "mediawiki":
        with running_wiki(request.getfixturevalue("empty_wiki"), tmp_path / "wiki") as wiki:
            yield filled(WikiTree(wiki))
        return
    if request.param == "imap":
        monkeypatch = request.getfixturevalue("monkeypatch")
        with running_dovecot() as server:
            monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
            yield filled(ImapMailbox(tmp_path, server))
        return
    if request.param == "confluence":
        with confluence() as site:
            yield filled(ConfluenceTree(site))
        return
    if request.param == "zendesk":
        with help_center() as center:
            yield filled(ZendeskTree(center))
        return
    if request.param == "sharepoint":
        with signed_in(request.getfixturevalue("monkeypatch")) as identity, sharepoint(identity) as library:
            yield filled(SharePointTree(library))
        return
    made = KINDS[request.param](tmp_path)
    yield filled(made)
    if isinstance(made, SiteTree):
        made.site.close()


def filled(made: Tree) -> Tree:
    made.put("more/next.html", page())
    made.put("start.html", page(f'<p>{PROSE}</p><a href="more/next.html#part">Next</a>'))
    return made


def test_each_item_becomes_an_article_that_the_pipeline_accepts(tree: Tree, settings: Settings, staging: Path) -> None:
    taken = run(tree.source(settings), settings)
    assert (sorted(taken.new), taken.refused, taken.guard) == (["manual-more-next", "manual-start"], {}, "")
    listing = Staging(UPath(staging)).list_articles()
    assert (listing.article_ids, listing.refused) == (("manual-more-next", "manual-start"), {})
    assert PROSE in (staging / "manual-start" / "index.html").read_text()


def prepared(source: IntakeSource) -> IntakeSource:
    source.prepare()
    return source


def test_ids_and_versions_are_stable(tree: Tree, settings: Settings) -> None:
    def listed() -> dict[str, str]:
        return {item.id: item.version for item in prepared(tree.source(settings)).items() if isinstance(item, Item)}

    first = listed()
    assert first == listed()
    assert len(first) == 2


def test_nothing_changed_touches_nothing(tree: Tree, settings: Settings, staging: Path) -> None:
    run(tree.source(settings), settings)
    before = {path: path.stat().st_mtime_ns for path in staging.rglob("*")}
    again = run(tree.source(settings), settings)
    assert (again.new, again.changed, again.gone, again.unchanged, again.bytes) == ([], [], [], 2, 0)
    assert {path: path.stat().st_mtime_ns for path in staging.rglob("*")} == before


def test_a_changed_item_changes_its_article_and_no_other(tree: Tree, settings: Settings, staging: Path) -> None:
    run(tree.source(settings), settings)
    tree.put("more/next.html", page("<p>Close the valve again, as soon as the gauge has shown five bars.</p>"))
    assert preview(tree.source(settings), settings).changed == ["manual-more-next"]
    taken = run(tree.source(settings), settings)
    assert (taken.changed, taken.new, taken.gone) == (["manual-more-next"], [], [])
    assert "five bars" in (staging / "manual-more-next" / "index.html").read_text()


def test_links_between_items_lead_to_their_articles(tree: Tree, settings: Settings, staging: Path) -> None:
    if not tree.has_links:
        pytest.skip("items of this source do not lead to each other")
    run(tree.source(settings), settings)
    assert 'href="../manual-more-next/index.html#part"' in (staging / "manual-start" / "index.html").read_text()


def test_what_is_gone_is_removed(tree: Tree, settings: Settings, staging: Path) -> None:
    run(tree.source(settings), settings)
    tree.remove("more/next.html")
    assert preview(tree.source(settings), settings).gone == ["manual-more-next"]
    assert run(tree.source(settings), settings).gone == ["manual-more-next"]
    assert [path.name for path in staging.iterdir()] == ["manual-start"]
    assert run(tree.source(settings), settings).gone == []


@pytest.mark.slow("puts 24 pages into each source")
def test_half_of_the_articles_lost_at_once_are_held(tree: Tree, settings: Settings, staging: Path) -> None:
    more = [f"more/part{number:02}.html" for number in range(22)]
    for name in more:
        tree.put(name, page(f"<p>{PROSE} This is the part {name}.</p>", name))
    links = "".join(f'<a href="{name}">{name}</a> ' for name in ("more/next.html", *more))
    tree.put("start.html", page(f"<p>{PROSE}</p>{links}"))
    assert len(run(tree.source(settings), settings).new) == 24
    for name in more[::2]:
        tree.remove(name)
    taken = run(tree.source(settings), settings)
    assert (taken.gone, len(list(staging.iterdir()))) == ([], 24)
    assert "11 of 24 articles are missing" in taken.guard


def test_a_source_that_vanishes_changes_nothing(tree: Tree, settings: Settings, staging: Path) -> None:
    run(tree.source(settings), settings)
    before = {path: path.read_bytes() for path in staging.rglob("*") if path.is_file()}
    tree.vanish()
    with pytest.raises(KnowledgeBaseError):
        run(tree.source(settings.model_copy(update={"attempts": 1})), settings)
    assert {path: path.read_bytes() for path in staging.rglob("*") if path.is_file()} == before


def test_readers_of_the_source_are_the_readers_of_its_articles(tree: Tree, settings: Settings, staging: Path) -> None:
    run(tree.source(settings, readers=("team-a",)), settings)
    metadata = json.loads((staging / "manual-start" / "metadata.json").read_text())
    assert metadata["access_control_list"] == ["team-a"]
