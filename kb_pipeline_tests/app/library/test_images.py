import os
import shutil
from pathlib import Path
from urllib.parse import unquote

import pytest
from upath import UPath

from app.callers.principal import Principal
from app.library.images import ImageNotFoundError, open_image
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.pictures import screenshot

ANYBODY = Principal()
HR = Principal("ann", ("ann", "group-hr"))
PATH = "images/crop.png"


@pytest.fixture
def layout(knowledge_base: Settings, tmp_path: Path) -> Layout:
    """A copy of the published articles, to be changed by the test."""
    shutil.copytree(Layout.of(knowledge_base).serving_root, tmp_path / "serving")
    return Layout(UPath(tmp_path), UPath(tmp_path / "serving"))


def restrict(layout: Layout, article_id: str, *names: str) -> None:
    path = layout.serving(article_id) / "manifest.json"
    manifest = load_manifest(layout.serving(article_id)).model_copy(update={"access_control_list": names})
    replace(Path(path), manifest.model_dump_json().encode())


def replace(path: Path, data: bytes) -> None:
    (path.parent / ".new").write_bytes(data)
    (path.parent / ".new").replace(path)


def test_an_image_is_served_as_it_was_published(layout: Layout) -> None:
    image = open_image(layout, "layers", PATH, ANYBODY)

    (manifest,) = load_manifest(layout.serving("layers")).images
    data = (layout.serving("layers") / PATH).read_bytes()
    assert image.etag == f'"{manifest.sha256}"' == f'"{sha256(data)}"'
    assert (image.size, image.content_type) == (len(data), "image/png")
    assert b"".join(image.blocks()) == data
    assert image.file.closed


def test_a_part_of_an_image_can_be_read(layout: Layout) -> None:
    data = (layout.serving("layers") / PATH).read_bytes()

    assert b"".join(open_image(layout, "layers", PATH, ANYBODY).blocks(3, 70)) == data[3:70]
    assert b"".join(open_image(layout, "layers", PATH, ANYBODY).blocks(len(data) - 2, len(data) + 9)) == data[-2:]


@pytest.mark.parametrize(
    ("article_id", "path"),
    [
        ("unknown", PATH),
        ("layers", "images/unknown.png"),
        ("layers", "images/"),
        ("layers", "images"),
        ("layers", ""),
        ("layers", "manifest.json"),
        ("layers", "article.md"),
        ("layers", "images/../manifest.json"),
        ("layers", "images/../images/crop.png"),
        ("layers", "images/../../printing/images/tray.png"),
        ("layers", "images/%2e%2e/manifest.json"),
        ("layers", "images/..%2f..%2fprinting%2fimages%2ftray.png"),
        ("layers", "images//crop.png"),
        ("layers", "./images/crop.png"),
        ("layers", "/images/crop.png"),
        ("layers", "images\\crop.png"),
        ("layers", "images/..\\crop.png"),
        ("layers", "images/crop.png\0.png"),
        ("layers", "images/\0.png"),
        ("layers", "images/crop.PNG"),
        ("layers", "images/crop.png\n"),
        ("layers", "images/.hidden.png"),
        ("layers", "images/" + "x" * 300 + ".png"),
        ("layers", "images/\udcff.png"),
        ("../serving/layers", PATH),
        ("..", "serving/layers/images/crop.png"),
        ("layers/..", PATH),
        (".", PATH),
        ("", PATH),
        ("lay\0ers", PATH),
        ("layers\\", PATH),
        ("x" * 300, PATH),
    ],
)
def test_whatever_is_no_image_of_a_published_article_is_not_found(layout: Layout, article_id: str, path: str) -> None:
    with pytest.raises(ImageNotFoundError):
        open_image(layout, article_id, unquote(path), ANYBODY)
    with pytest.raises(ImageNotFoundError):
        open_image(layout, article_id, path, ANYBODY)


def test_what_is_no_picture_is_not_found_under_the_name_of_one(layout: Layout) -> None:
    folder = Path(layout.serving("layers")) / "images"
    (folder / "page.png").write_bytes(b"<html><script>alert(1)</script>")
    (folder / "empty.png").touch()
    (folder / "folder.png").mkdir()
    os.mkfifo(folder / "pipe.png")

    for name in ("page", "empty", "folder", "pipe"):
        with pytest.raises(ImageNotFoundError):
            open_image(layout, "layers", f"images/{name}.png", ANYBODY)


def test_links_are_not_followed_out_of_the_article(layout: Layout, tmp_path: Path) -> None:
    outside = tmp_path / "outside.png"
    outside.write_bytes(screenshot("secret"))
    folder = Path(layout.serving("layers"))
    (folder / "images" / "out.png").symlink_to(outside)
    (folder / "images" / "other.png").symlink_to(Path(layout.serving("printing")) / "images" / "tray.png")
    (folder / "images" / "own.png").symlink_to(folder / PATH)
    (layout.serving_root / "linked").symlink_to(folder)

    for article_id, name in (("layers", "out"), ("layers", "other"), ("linked", "crop")):
        with pytest.raises(ImageNotFoundError):
            open_image(layout, article_id, f"images/{name}.png", ANYBODY)
    open_image(layout, "layers", "images/own.png", ANYBODY).close()


def test_a_restricted_image_is_there_for_those_who_are_named(layout: Layout) -> None:
    restrict(layout, "layers", "group-hr")

    open_image(layout, "layers", PATH, HR).close()
    with pytest.raises(ImageNotFoundError):
        open_image(layout, "layers", PATH, ANYBODY)
    with pytest.raises(ImageNotFoundError):
        open_image(layout, "layers", PATH, Principal("bob", ("bob", "group-it")))


def test_a_restriction_holds_from_the_moment_it_is_published(layout: Layout) -> None:
    open_image(layout, "layers", PATH, ANYBODY).close()
    restrict(layout, "layers", "group-hr")

    with pytest.raises(ImageNotFoundError):
        open_image(layout, "layers", PATH, ANYBODY)


def test_an_image_that_is_refused_sounds_like_one_that_is_not_there(layout: Layout) -> None:
    restrict(layout, "layers", "group-hr")

    with pytest.raises(ImageNotFoundError) as refused:
        open_image(layout, "layers", PATH, ANYBODY)
    with pytest.raises(ImageNotFoundError) as missing:
        open_image(layout, "nothing", PATH, ANYBODY)
    assert str(refused.value) == str(missing.value).replace("nothing", "layers")


def test_a_damaged_manifest_lets_nobody_in(layout: Layout) -> None:
    replace(Path(layout.serving("layers")) / "manifest.json", b"{")

    with pytest.raises(ImageNotFoundError):
        open_image(layout, "layers", PATH, ANYBODY)


def test_an_image_that_is_published_anew_while_it_is_read_stays_whole(layout: Layout) -> None:
    path = Path(layout.serving("layers")) / PATH
    before, after = path.read_bytes(), screenshot("another picture")
    image = open_image(layout, "layers", PATH, ANYBODY)
    replace(path, after)

    assert b"".join(image.blocks()) == before
    assert image.etag == f'"{sha256(before)}"'
    anew = open_image(layout, "layers", PATH, ANYBODY)
    assert (anew.etag, b"".join(anew.blocks())) == (f'"{sha256(after)}"', after)


def test_an_image_that_only_an_older_version_shows_is_found_while_it_is_there(layout: Layout) -> None:
    older = screenshot("as it was")
    (Path(layout.serving("layers")) / "images" / "older.png").write_bytes(older)

    assert b"".join(open_image(layout, "layers", "images/older.png", ANYBODY).blocks()) == older


def test_images_are_served_from_object_storage(layout: Layout) -> None:
    store = UPath("memory://images-test/serving")
    for path in ("manifest.json", PATH):
        (store / "layers" / path).parent.mkdir(parents=True, exist_ok=True)
        (store / "layers" / path).write_bytes((layout.serving("layers") / path).read_bytes())
    remote = Layout(UPath("memory://images-test"), store)

    image = open_image(remote, "layers", PATH, ANYBODY)
    assert image.etag == open_image(layout, "layers", PATH, ANYBODY).etag
    assert b"".join(image.blocks()) == (layout.serving("layers") / PATH).read_bytes()
    with pytest.raises(ImageNotFoundError):
        open_image(remote, "layers", "images/other.png", ANYBODY)
