"""Trees of pages, documents and pictures, of whatever tool, as a folder or in a ZIP."""

import base64
import json
import zipfile
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.running import run
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE, FolderTree, page

Take = Callable[..., dict[str, str]]


@pytest.fixture
def taken(tree: FolderTree, settings: Settings, staging: Path) -> Take:
    """Take in what lies in the tree: the page of each article."""

    def take(**options: object) -> dict[str, str]:
        run(tree.source(settings, **options), settings)
        mains = {folder.name: next(each for each in folder.iterdir() if each.suffix in (".html", ".md"))
                 for folder in staging.iterdir()}  # fmt: skip
        return {name: main.read_text() for name, main in mains.items()}

    return take


def test_shared_pictures_come_with_each_page_that_shows_them(tree: FolderTree, taken: Take, staging: Path) -> None:
    tree.put("images/valve.png", b"valve")
    tree.put("images/more/valve.png", b"another")
    tree.put("a/one.html", page(f'<p>{PROSE}</p><img src="../images/valve.png"><img src="../images/more/valve.png">'))
    tree.put("two.html", page(f'<p>{PROSE}</p><img src="images/valve.png?v=2"><img src="images/lost.png">'))
    pages = taken()
    assert 'src="valve.png"' in pages["manual-a-one"]
    assert 'src="valve-2.png"' in pages["manual-a-one"]
    assert (staging / "manual-a-one" / "valve-2.png").read_bytes() == b"another"
    assert 'src="valve.png"' in pages["manual-two"]
    assert 'src="images/lost.png"' in pages["manual-two"]


def test_no_picture_takes_the_place_of_the_page_or_its_metadata(tree: FolderTree, taken: Take, staging: Path) -> None:
    tree.put("x/index.html", b"picture")
    tree.put("x/metadata.json", b"picture")
    tree.put("a.html", page(f'<p>{PROSE}</p><img src="x/index.html"><img src="x/metadata.json">'))
    assert PROSE in taken(exclude=("x/*",))["manual-a"]
    names = sorted(path.name for path in (staging / "manual-a").iterdir())
    assert names == [".intake.json", "index.html", "index.image", "metadata.image", "metadata.json"]


def test_a_changed_picture_changes_the_articles_that_show_it(
    tree: FolderTree, settings: Settings, staging: Path
) -> None:
    tree.put("valve.png", b"old")
    tree.put("one.html", page(f'<p>{PROSE}</p><img src="valve.png">'))
    tree.put("two.html", page())
    run(tree.source(settings), settings)
    tree.put("valve.png", b"renewed")
    assert run(tree.source(settings), settings).changed == ["manual-one"]
    assert (staging / "manual-one" / "valve.png").read_bytes() == b"renewed"


def test_what_a_page_missed_and_that_came_later_is_put_in(tree: FolderTree, settings: Settings, staging: Path) -> None:
    tree.put("guide/a.html", page(f'<p>{PROSE}</p><a href="../more/b">b</a><img src="../img/x.png">'))
    tree.put("c.html", page())
    assert len(run(tree.source(settings), settings).new) == 2
    assert run(tree.source(settings), settings).unchanged == 2
    tree.put("more/b.html", page())
    assert run(tree.source(settings), settings).changed == ["manual-guide-a"]
    tree.put("img/x.png", b"picture")
    assert run(tree.source(settings), settings).changed == ["manual-guide-a"]
    text = (staging / "manual-guide-a" / "index.html").read_text()
    assert '<a href="../manual-more-b/index.html">b</a><img src="x.png">' in text
    again = run(tree.source(settings), settings)
    assert (again.changed, again.unchanged) == ([], 3)


@pytest.mark.parametrize(
    ("place", "address", "target"),
    [
        ("docs/intro/index.html", "../setup/", "docs/setup/index.html"),
        ("docs/intro/index.html", "../setup", "docs/setup/index.html"),
        ("docs/intro/index.html", "/docs/setup", "docs/setup.html"),
        ("docs/intro/index.html", "/base/docs/setup", "docs/setup.html"),
        ("a b.html", "./c%20d.html", "c d.html"),
        ("a.html", "sub\\b.html", "sub/b.html"),
        ("a.html", "https://docs.example.org/v1/b.html", "b.html"),
        ("a.html", "b.html?print=1", "b.html"),
        ("a.html", ".", "index.html"),
        ("notes/a.md", "../b.md", "b.md"),
    ],
)
def test_links_are_followed_as_the_published_site_would(
    tree: FolderTree, taken: Take, place: str, address: str, target: str
) -> None:  # fmt: skip
    is_text = place.endswith(".md")
    tree.put(
        place,
        f"# A\n\n{PROSE} [there]({address}#part)"
        if is_text
        else page(f'<p>{PROSE}</p><a href="{address}#part">there</a>'),
    )
    tree.put(target, f"# B\n\n{PROSE}" if target.endswith(".md") else page())
    pages = taken(url="https://docs.example.org/v1")
    own = next(text for text in pages.values() if "there" in text)
    other = next(name for name, text in pages.items() if "there" not in text)
    main = "b.md" if target.endswith(".md") else "index.html"
    assert f"../{other}/{main}#part" in own


def test_what_is_no_article_leads_to_the_published_site(tree: FolderTree, taken: Take, staging: Path) -> None:
    tree.put("guide/a.html", page(f'<p>{PROSE}</p><a href="../files/tool.zip">tool</a><a href="#x">x</a>'))
    pages = taken(url="https://docs.example.org/v1/")
    assert 'href="https://docs.example.org/v1/files/tool.zip"' in pages["manual-guide-a"]
    assert 'href="#x"' in pages["manual-guide-a"]
    metadata = json.loads((staging / "manual-guide-a" / "metadata.json").read_text())
    assert metadata == {"source_url": "https://docs.example.org/v1/guide/a.html"}


def test_pages_only(tree: FolderTree, settings: Settings) -> None:
    for name in ("a.html", "b.HTM", "c.xhtml", "_static/d.html", "x/_modules/e.html", ".git/f.html", "x/g.js", "h.css"):
        tree.put(name, page())
    tree.put("i.md", f"# I\n\n{PROSE}")
    tree.put("j.pdf", b"%PDF-1.4")
    tree.put("k.numbers", b"PK")
    result = run(tree.source(settings), settings)
    assert result.new == ["manual-a", "manual-b", "manual-c", "manual-i", "manual-j"]
    assert list(result.refused) == ["k.numbers"]
    assert "is a Numbers spreadsheet" in result.refused["k.numbers"]


def test_patterns_choose_what_is_taken(tree: FolderTree, settings: Settings) -> None:
    for name in ("guide/a.html", "guide/old/b.html", "api/c.html"):
        tree.put(name, page())
    assert run(tree.source(settings, include=("guide/*",), exclude=("*/old/*",)), settings).new == ["manual-guide-a"]


def test_links_of_the_file_system_that_lead_out_are_left_out(
    tree: FolderTree, settings: Settings, tmp_path: Path, staging: Path
) -> None:
    (tmp_path / "secret.html").write_text(page("<p>The password of the whole company is in this sentence.</p>"))
    (tmp_path / "secret.png").write_bytes(b"secret")
    (tree.root / "link.html").symlink_to(tmp_path / "secret.html")
    (tree.root / "link.png").symlink_to(tmp_path / "secret.png")
    tree.put("a.html", page(f'<p>{PROSE}</p><img src="link.png"><img src="../secret.png">'))
    run(tree.source(settings), settings)
    assert sorted(path.name for path in staging.rglob("*") if path.is_file()) == [
        ".intake.json",
        "index.html",
        "metadata.json",
    ]


def test_readers_beside_a_page_are_taken_over_and_it_is_hidden_if_they_cannot_be_read(
    tree: FolderTree, settings: Settings, staging: Path
) -> None:
    for name in ("open/a.html", "closed/a.html", "broken/a.html", "other/a.html"):
        tree.put(name, page())
    tree.put("closed/metadata.json", '{"access_control_list": ["hr"]}')
    tree.put("broken/metadata.json", '{"acess_control_list": ["hr"]}')
    run(tree.source(settings), settings)

    def readers(name: str) -> list[str]:
        return list(json.loads((staging / name / "metadata.json").read_text()).get("access_control_list", []))

    assert [readers(f"manual-{name}-a") for name in ("open", "closed", "broken")] == [[], ["hr"], [HIDDEN]]
    tree.put("open/metadata.json", '{"access_control_list": ["hr", "it"]}')
    run(tree.source(settings, readers=("it",)), settings)
    assert [readers(f"manual-{name}-a") for name in ("open", "closed", "other")] == [["it"], [HIDDEN], ["it"]]


def test_pictures_inside_of_a_page_become_files(tree: FolderTree, taken: Take, staging: Path) -> None:
    inside = base64.b64encode(b"picture").decode()
    tree.put("a.html", page(f'<p>{PROSE}</p><img src="data:image/jpeg;base64,{inside}">'))
    assert 'src="picture.jpg"' in taken()["manual-a"]
    assert (staging / "manual-a" / "picture.jpg").read_bytes() == b"picture"


def test_a_web_archive_is_a_page_with_its_pictures(tree: FolderTree, taken: Take, staging: Path) -> None:
    message = EmailMessage()
    message["Snapshot-Content-Location"] = "https://wiki.example.org/page/1"
    message.set_content(page(f'<p>{PROSE}</p><img src="/img/a.png"><img src="cid:b@c">'), subtype="html")
    message.add_related(b"one", "image", "png", headers=["Content-Location: https://wiki.example.org/img/a.png"])
    message.add_related(b"two", "image", "png", cid="<b@c>")
    tree.put("saved.mhtml", message.as_bytes())
    text = taken()["manual-saved"]
    assert 'src="a.png"' in text
    assert {
        path.read_bytes() for path in (staging / "manual-saved").glob("*") if path.suffix in (".png", ".image")
    } == {b"one", b"two"}
    assert "https://wiki.example.org/page/1" in (staging / "manual-saved" / "metadata.json").read_text()


def test_a_page_that_cannot_be_read_is_refused_alone(tree: FolderTree, settings: Settings) -> None:
    tree.put("a.html", page())
    tree.put("b.html", b"%PDF-1.4 no page")
    tree.put("c.mhtml", b"no archive")
    tree.put("d.html", b"")
    result = run(tree.source(settings), settings)
    assert (result.new, set(result.refused), result.left_out) == (["manual-a"], {"b.html", "c.mhtml"}, 1)
    assert "is a PDF" in result.refused["b.html"]


def test_a_folder_that_is_not_there_is_told(tree: FolderTree, settings: Settings) -> None:
    tree.path = tree.root / "unmounted"
    with pytest.raises(IntakeError, match="is its disk mounted"):
        tree.source(settings)


@pytest.mark.parametrize("place", ["", "articles", ".."])
@pytest.mark.parametrize("setting", ["staging", "home"])
def test_a_source_holds_nothing_that_is_made_of_it(
    tree: FolderTree, settings: Settings, setting: str, place: str
) -> None:
    inside = settings.model_copy(update={setting: str(tree.root / place)})
    with pytest.raises(IntakeError, match=f"while KB_{setting.upper()} is"):
        tree.source(inside)


@pytest.mark.parametrize("name", ["../out.html", "/out.html", "a/../../out.html"])
def test_a_hostile_zip_is_refused(tree: FolderTree, settings: Settings, tmp_path: Path, name: str) -> None:
    tree.path = tmp_path / "x.zip"
    with zipfile.ZipFile(tree.path, "w") as archive:
        archive.writestr(name, page())
    with pytest.raises(IntakeError, match="names a file outside of itself"):
        tree.source(settings)


def test_the_same_tree_in_another_place_changes_no_article(
    tree: FolderTree, settings: Settings, tmp_path: Path
) -> None:
    tree.put("a.html", page())
    run(tree.source(settings), settings)
    tree.path = tree.root.rename(tmp_path / "moved")
    tree.root = tree.path
    result = run(tree.source(settings), settings)
    assert (result.new, result.changed, result.unchanged) == ([], [], 1)


def test_what_becomes_no_article_is_told_with_its_reason(tree: FolderTree, settings: Settings) -> None:
    links = "".join(f'<li><a href="{name}.html">{name}</a></li>' for name in "abcd")
    tree.put("a.html", page(f'<p>{PROSE}</p><img src="img/shown.png">'))
    for name in ("index", "more/index"):
        tree.put(f"{name}.html", page(f"<ul>{links}</ul>"))
    for name in ("img/shown.png", "img/other.png", "img/icon.gif", "talk.mp3", "notes.txt", "_static/a.png"):
        tree.put(name, name)
    for _ in range(2):
        taken = run(tree.source(settings), settings)
        assert {(each.reason.split(" only")[0], each.count, each.example) for each in taken.why_left_out} == {
            ("it", 2, "index.html"),
            ("no page shows this picture", 2, "img/icon.gif"),
            ("a recording is an article", 1, "talk.mp3"),
            ("a text is an article", 1, "notes.txt"),
        }
        assert (taken.listed, taken.left_out) == (3, 6)
    tree.remove("notes.txt")
    tree.put("more/index.html", page(f'<p>{PROSE}</p><img src="../img/other.png">'))
    assert [(each.count, each.example) for each in run(tree.source(settings), settings).why_left_out] == [
        (1, "talk.mp3"), (1, "index.html"), (1, "img/icon.gif"),
    ]  # fmt: skip
    chosen = run(tree.source(settings, exclude=["*.mp3", "*.gif", "index.html"]), settings)
    assert (chosen.left_out, chosen.why_left_out) == (0, ())


def test_a_table_of_notion_has_a_title_without_its_id(tree: FolderTree, settings: Settings, staging: Path) -> None:
    tree.put(f"Parts {'0a' * 16}.csv", "Name,Bars\nValve,3\n")
    tree.put(f"Plan {'0b' * 16}.md", f"# The plan\n\n{PROSE}")
    run(tree.source(settings), settings)
    titles = {path.parent.name[:12]: json.loads(path.read_text()) for path in staging.glob("*/metadata.json")}
    assert {name: facts.get("title") for name, facts in titles.items()} == {
        "manual-parts": "Parts",
        "manual-plan-": None,
    }
