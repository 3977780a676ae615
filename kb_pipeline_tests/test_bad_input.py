"""Bad input: a clear error or a counted warning, nothing lost, the other articles published."""

import json
import zlib
from pathlib import Path

import pytest
from PIL import Image

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.build import ArticleResult
from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.layers.serving_article import load_manifest
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Chunk, Manifest, sections
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.staging import Staging
from kb_pipeline.store.state import load_state
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.pictures import screenshot

GOOD = "<html><body><h1>Good article</h1><p>Reset the password in the profile menu.</p></body></html>"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"analyzer": "kb_pipeline_tests.doubles:GlancingAnalyzer"})


def served(settings: Settings, article_id: str) -> str:
    return (Layout.of(settings).serving(article_id) / "article.md").read_text()


def manifest(settings: Settings, article_id: str) -> Manifest:
    return load_manifest(Layout.of(settings).serving(article_id))


def published(settings: Settings) -> set[str]:
    return set(Workspace(settings).index.entries())


def chunks(settings: Settings, article_id: str) -> list[Chunk]:
    layout = Layout.of(settings)
    return sections(load_chunks(layout, article_id, load_state(layout, article_id).version))


def reason(result: ArticleResult) -> str:
    assert result.error is not None, f"{result.article_id} was expected to fail"
    return result.error


# --- what cannot be an article -------------------------------------------------------------------


@pytest.mark.slow("tries what is hostile at the sizes that count")
@pytest.mark.parametrize(
    ("html", "said"),
    [
        (b"", "empty"),
        (b"  \n\t \n", "empty"),
        (b"<html><head><title>Only a title</title></head><body><nav>Menu</nav></body></html>", "no"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "PDF"),
        (screenshot("text"), "PNG"),
        (b"PK\x03\x04" + bytes(range(256)) * 20, "not HTML"),
        (bytes(range(256)) * 40, "not HTML"),
    ],
    ids=["empty", "white space", "furniture only", "PDF", "PNG", "zip", "binary"],
)
def test_what_is_no_article_fails_alone_and_says_why(
    settings: Settings, article: Article, build: Build, html: bytes, said: str
) -> None:
    article("bad", html)
    article("good", GOOD)
    results = build()
    assert said.lower() in reason(results["bad"]).lower()
    assert reason(results["bad"]).startswith("bad: ")
    assert "unexpected" not in reason(results["bad"])
    assert results["good"].error is None
    assert published(settings) == {"good"}


@pytest.mark.parametrize("name", ["index.html", "manual.pdf", "manual.docx", "manual.pptx", "manual.md"])
def test_what_is_too_large_to_be_read_is_refused_by_its_size(
    settings: Settings, article: Article, build_here: Build, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (Path(settings.staging) / "huge").mkdir(parents=True)
    (Path(settings.staging) / "huge" / name).write_bytes(b"x" * 1_001)
    article("good", GOOD)
    opened: list[str] = []
    read = Staging.read

    def noted(self: Staging, article_id: str, name: str, expected_sha256: str) -> bytes:
        opened.append(article_id)
        return read(self, article_id, name, expected_sha256)

    monkeypatch.setattr(Staging, "read", noted)
    results = build_here(document_bytes=1_000)
    assert reason(results["huge"]) == (
        f"huge: {name} has 1,001 bytes, at most 1,000 are read; split it, or raise KB_DOCUMENT_BYTES"
    )
    assert set(opened) == {"good"}
    assert published(settings) == {"good"}


def test_a_folder_without_index_html_fails_alone(settings: Settings, article: Article, build: Build) -> None:
    (Path(settings.staging) / "bad").mkdir()
    article("good", GOOD)
    results = build()
    assert "there is no index.html" in reason(results["bad"])
    assert published(settings) == {"good"}


def test_a_broken_new_version_leaves_the_published_one_in_place(
    settings: Settings, article: Article, build: Build
) -> None:
    article("page", GOOD)
    build()
    article("page", b"%PDF-1.7")
    assert build()["page"].error is not None
    assert "Reset the password" in served(settings, "page")
    assert published(settings) == {"page"}


def test_metadata_that_cannot_be_read_stops_the_article_because_it_may_restrict_it(
    settings: Settings, article: Article, build: Build
) -> None:
    article("bad", GOOD, {"metadata.json": b'{"access_control_list": "not a list"}'})
    assert "metadata.json is not valid: access_control_list" in reason(build()["bad"])
    assert published(settings) == set()


@pytest.mark.parametrize("name", ["Metadata.json", "METADATA.JSON"])
def test_a_misspelt_metadata_file_is_not_passed_over(
    settings: Settings, article: Article, build: Build, name: str
) -> None:
    article("bad", GOOD, {name: b'{"access_control_list": ["staff"]}'})
    assert "may restrict who reads the article" in reason(build()["bad"])


def test_a_linked_metadata_file_is_not_passed_over(
    settings: Settings, article: Article, build: Build, tmp_path: Path
) -> None:
    (tmp_path / "shared.json").write_text('{"access_control_list": ["staff"]}')
    (article("bad", GOOD) / "metadata.json").symlink_to(tmp_path / "shared.json")
    assert "may restrict who reads the article" in reason(build()["bad"])


def test_metadata_wins_over_the_html_and_unknown_fields_are_warned_about(
    settings: Settings, article: Article, build: Build
) -> None:
    data = '\ufeff{"title": "Better title", "access_control_list": ["staff"], "owner": ["x"]}'
    article("page", GOOD, {"metadata.json": data.encode()})
    assert build()["page"].error is None
    assert manifest(settings, "page").title == "Better title"
    assert manifest(settings, "page").access_control_list == ("staff",)
    assert any("'owner' is an unknown field" in warning for warning in manifest(settings, "page").warnings)
    assert chunks(settings, "page")[0].access_control_list == ("staff",)


# --- encodings -----------------------------------------------------------------------------------

UMLAUTS = "<html><head>{meta}</head><body><h1>Größe</h1><p>Über das Menü „Datei“ öffnen, naïve café.</p></body></html>"


@pytest.mark.parametrize(
    "html",
    [
        UMLAUTS.format(meta='<meta charset="utf-8">').encode(),
        UMLAUTS.format(meta="").encode("utf-8-sig"),
        UMLAUTS.format(meta="").encode("utf-16"),
        UMLAUTS.format(meta='<meta charset="windows-1252">').encode("windows-1252"),
        UMLAUTS.format(meta="").encode("windows-1252"),
        UMLAUTS.format(meta='<meta charset="iso-8859-1">').encode("utf-8"),
        UMLAUTS.format(meta='<meta charset="utf-8">').encode("windows-1252"),
        UMLAUTS.format(meta='<meta charset="no-such-charset">').encode("utf-8"),
    ],
    ids=[
        "utf-8",
        "bom",
        "utf-16",
        "declared",
        "undeclared",
        "declared latin, is utf-8",
        "declared utf-8, is latin",
        "unknown",
    ],
)
def test_every_encoding_is_read(settings: Settings, article: Article, build: Build, html: bytes) -> None:
    article("page", html)
    assert build()["page"].error is None
    assert "Größe" in served(settings, "page")
    assert "Menü „Datei“ öffnen, naïve café" in served(settings, "page")


# --- size and shape ------------------------------------------------------------------------------


def test_five_thousand_nested_divs(settings: Settings, article: Article, build: Build) -> None:
    article("deep", "<body><h1>Deep</h1>" + "<div>" * 5000 + "<p>bottom text</p>" + "</div>" * 5000)
    assert build()["deep"].error is None
    assert "bottom text" in served(settings, "deep")


@pytest.mark.rare("a hostile file of whole size")
def test_twenty_megabytes_of_html(settings: Settings, article: Article, build: Build) -> None:
    paragraph = "<p>" + "word and another word, " * 40 + "</p>\n"
    html = "<body><h1>Long</h1>" + paragraph * (20_000_000 // len(paragraph)) + "<p>the very end</p></body>"
    article("huge", html)
    assert build("huge", layers=("staged_article", "converted_markdown"))["huge"].error is None
    text = (Layout.of(settings).converted("huge") / "article.md").read_text()
    assert "the very end" in text


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_sixty_thousand_words_are_all_found_again(settings: Settings, article: Article, build: Build) -> None:
    body = "".join(
        f"<h2>Part {part}</h2>"
        + "".join(f"<p>{' '.join(f'w{part}x{n}' for n in range(k, k + 100))}</p>" for k in range(0, 1000, 100))
        for part in range(60)
    )
    article("long", f"<body><h1>Long</h1>{body}</body>")
    assert build()["long"].error is None
    text = " ".join(chunk.content for chunk in chunks(settings, "long"))
    words = text.split()
    assert [word for word in words if word.startswith("w")] == [f"w{p}x{n}" for p in range(60) for n in range(1000)]


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<body><p>No heading at all.</p></body>", ["No heading at all."]),
        ("<body><h1>One</h1><p>first</p><h1>Two</h1><p>second</p></body>", ["# One", "first", "# Two", "second"]),
        ("<body><h3>Starts low</h3><p>text</p></body>", ["### Starts low", "text"]),
        ("<body><h1>Open<p>never <b>closed <ul><li>one<li>two", ["Open", "never", "closed", "one", "two"]),
    ],
    ids=["no heading", "two h1", "starts at h3", "unclosed"],
)
def test_odd_structure_keeps_its_text(
    settings: Settings, article: Article, build: Build, html: str, expected: list[str]
) -> None:
    article("page", html)
    assert build()["page"].error is None
    position = 0
    for text in expected:
        position = served(settings, "page").index(text, position)


def test_active_content_is_gone_and_its_text_is_kept_where_it_is_text(
    settings: Settings, article: Article, build: Build
) -> None:
    article(
        "page",
        """<body><h1>Active</h1><script>alert('x')</script><style>p {color: red}</style><!-- secret -->
        <p onclick="evil()">Visible <a href="javascript:evil()">run</a> and <a href="data:text/html,x">data</a>.</p>
        <form><input name="q" value="typed"><button>Send</button></form><iframe src="https://example.com/x"></iframe>
        </body>""",
    )
    assert build()["page"].error is None
    text = served(settings, "page")
    assert "Visible run and data." in text
    for gone in ("alert", "color: red", "secret", "javascript:", "data:text", "evil", "iframe", "<form"):
        assert gone not in text


@pytest.mark.slow("tries what is hostile at the sizes that count")
def test_markdown_and_markers_in_the_authors_words_stay_words(
    settings: Settings, article: Article, build: Build
) -> None:
    article(
        "page",
        "<body><h1>Syntax</h1><p>Write [[IMG:shot.image]] or [[IMG:x]] and *stars*, _lines_, # hash, "
        "`ticks`, &lt;file&gt;, [a](b) and | pipes.</p><p># not a heading</p><p><img src='shot.image'></p></body>",
        {"shot.image": screenshot("Save")},
    )
    assert build()["page"].error is None
    from markdown_it import MarkdownIt

    rendered = MarkdownIt("commonmark").enable("table").render(served(settings, "page"))
    assert "[[IMG:shot.image]] or [[IMG:x]] and *stars*, _lines_, # hash, `ticks`, &lt;file&gt;, [a](b)" in rendered
    assert rendered.count("<h1>") == 1
    assert served(settings, "page").count("**[Image: shot](images/shot.png)**") == 1


# --- images --------------------------------------------------------------------------------------


def png(side: int, rows: int) -> bytes:
    """A black-and-white PNG that claims ``side`` x ``side`` pixels and holds that many rows, all checksums right."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big")

    header = side.to_bytes(4, "big") * 2 + bytes([1, 0, 0, 0, 0])
    pixels = zlib.compress(bytes(1 + (side + 7) // 8) * rows, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    "data",
    [
        None,
        b"",
        b"not an image",
        screenshot("Save", "Cancel")[:-200],
        png(10_000, 10_000),
        b"<svg xmlns='http://www.w3.org/2000/svg'",
    ],
    ids=["missing", "zero bytes", "no image", "truncated", "100 megapixels", "broken svg"],
)
def test_an_image_that_cannot_be_shown_fails_its_article_and_the_last_good_version_stays(
    settings: Settings, article: Article, build: Build, data: bytes | None
) -> None:
    article("page", "<body><h1>Page</h1><p>Before.</p></body>")
    build()
    before = served(settings, "page")
    files = {} if data is None else {"shot.image": data}
    article("page", "<body><h1>Page</h1><p>Before.</p><h2>Save it</h2><p><img src='shot.image'></p></body>", files)
    error = reason(build()["page"])
    assert "images_are_accounted_for: 1 image cannot be shown: " in error
    assert "shot.image" in error
    assert "(shown below 'Save it')" in error
    assert "Put the missing file into the article's folder" in error
    assert served(settings, "page") == before


@pytest.mark.parametrize("data", [None, screenshot("Save", "Cancel")[:-200]], ids=["missing", "truncated"])
def test_such_an_image_is_a_warning_and_its_alt_text_stays_if_its_check_only_warns(
    settings: Settings, article: Article, build_here: Build, data: bytes | None
) -> None:
    files = {} if data is None else {"shot.image": data}
    image = "<img src='shot.image' alt='The save dialog of the editor'>"
    article("page", f"<body><h1>Page</h1><p>Before.</p><p>{image}</p><p>After.</p></body>", files)
    assert build_here(advisory_checks=("images_are_accounted_for",))["page"].error is None
    text = served(settings, "page")
    assert "Before." in text
    assert "The save dialog of the editor" in text
    assert "After." in text
    assert "[[IMG" not in text
    assert "images/shot.png" not in text
    assert any("shot.image" in warning for warning in manifest(settings, "page").warnings)


@pytest.mark.slow("tries what is hostile at the sizes that count")
@pytest.mark.parametrize(
    "data",
    [
        screenshot("Save", form="JPEG"),
        screenshot("Save", form="GIF"),
        screenshot("Save", form="WEBP"),
        screenshot("Save", form="BMP"),
        screenshot("Save", form="JPEG", mode="CMYK"),
        screenshot("Save", mode="RGBA"),
        screenshot("Save", mode="P"),
        screenshot("Save", mode="I;16"),
        screenshot("Save", form="GIF", save_all=True, append_images=[Image.new("RGB", (120, 60))]),
        b"<svg xmlns='http://www.w3.org/2000/svg' width='300' height='200'><rect width='300' height='99'/></svg>",
    ],
    ids=["jpeg", "gif", "webp", "bmp", "cmyk", "alpha", "palette", "16 bit", "animated", "svg"],
)
def test_every_kind_of_image_is_served_as_png(settings: Settings, article: Article, build: Build, data: bytes) -> None:
    article("page", "<body><h1>Page</h1><p>Look:</p><img src='shot.image'></body>", {"shot.image": data})
    assert build()["page"].error is None
    image = manifest(settings, "page").images[0]
    with Image.open(Layout.of(settings).serving("page") / image.path) as opened:
        opened.load()
        assert (opened.format, opened.size) == ("PNG", (image.width, image.height))


def test_two_sources_with_one_stem_do_not_overwrite_each_other(
    settings: Settings, article: Article, build: Build
) -> None:
    files = {"a.image": screenshot("One"), "a.gif": screenshot("Two", form="GIF"), "A.PNG": screenshot("Three")}
    article(
        "page", "<body><h1>P</h1><img src='a.image'><p>x</p><img src='a.gif'><p>y</p><img src='A.PNG'></body>", files
    )
    assert build()["page"].error is None
    images = manifest(settings, "page").images
    assert {image.source_file for image in images} == set(files)
    assert len({image.path.lower() for image in images}) == 3


@pytest.mark.parametrize(
    ("src", "name"),
    [
        ("my shot.image", "my shot.image"),
        ("my%20shot.image", "my shot.image"),
        ("übersicht.image", "übersicht.image"),
        ("%C3%BCbersicht.image", "übersicht.image"),
        ("Shot.IMAGE", "shot.image"),
        ("shot.image?version=3", "shot.image"),
        ("./img/../shot.image", "shot.image"),
        ("img/shot.image", "img/shot.image"),
        ("a]b.image", "a]b.image"),
    ],
)
def test_images_are_found_however_they_are_referenced(
    settings: Settings, article: Article, build: Build, src: str, name: str
) -> None:
    article("page", f"<body><h1>Page</h1><p>Look:</p><img src='{src}'></body>", {name: screenshot("Save")})
    assert build()["page"].error is None
    assert [image.source_file for image in manifest(settings, "page").images] == [name]
    path = manifest(settings, "page").images[0].path
    assert (Layout.of(settings).serving("page") / path).is_file()


@pytest.mark.parametrize(
    "src", ["../other/secret.image", "/etc/passwd", "https://example.com/shot.image", "file:///etc/passwd"]
)
def test_images_outside_the_folder_are_never_read(settings: Settings, article: Article, build: Build, src: str) -> None:
    article("other", GOOD, {"secret.image": screenshot("Secret")})
    article("page", f"<body><h1>Page</h1><p>Text.</p><img src='{src}' alt='A picture of the safe'></body>")
    assert build()["page"].error is None
    assert manifest(settings, "page").images == ()
    assert "A picture of the safe" in served(settings, "page")
    assert len(manifest(settings, "page").warnings) == 1


def test_the_same_image_under_two_names_is_described_once(settings: Settings, article: Article, build: Build) -> None:
    shot = screenshot("Save", "Cancel")
    article("one", "<body><h1>One</h1><p>Look:</p><img src='a.image'></body>", {"a.image": shot})
    article("two", "<body><h1>Two</h1><p>Look:</p><img src='b.image'></body>", {"b.image": shot})
    build("one")
    report = {layer.name: layer.report for layer in build("two")["two"].layers}["image_descriptions"]
    assert (report["newly_described"], report["from_cache"]) == (0, 1)


# --- names, folders, targets ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["with space", "v2.4.1", "Überblick", "工单", "x" * 200])
def test_articles_with_unusual_names_are_published_and_found(
    settings: Settings, article: Article, build: Build, name: str
) -> None:
    article(name, GOOD)
    assert build()[name].error is None
    workspace = Workspace(settings)
    hits = workspace.index.search(
        "reset password", workspace.embedder.embed(["reset password"])[0], mode="hybrid", top=1
    )
    assert hits[0].chunk.article_id == name


def test_a_read_only_target_is_a_clear_error(
    settings: Settings, article: Article, build: Build, tmp_path: Path
) -> None:
    article("page", GOOD)
    (tmp_path / "home").write_text("a file where the folder should be")
    with pytest.raises(KnowledgeBaseError, match=str(tmp_path / "home")):
        build()
    with pytest.raises(KnowledgeBaseError, match="a file stands where a folder is needed: move it away"):
        build(layers=("staged_article",))


def test_results_are_json(settings: Settings, article: Article, build: Build) -> None:
    article("page", GOOD)
    build()
    assert json.loads((Layout.of(settings).serving("page") / "manifest.json").read_text())["article_id"] == "page"
