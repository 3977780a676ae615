"""Every image is served with its words, or a warning says why not."""

import re
from collections.abc import Callable

import pytest

from kb_pipeline.records import CheckResult, DescribedImages, ImageProblem, Manifest
from kb_pipeline.steps.checks import images_are_accounted_for
from kb_pipeline.steps.checks.contents import shown_images
from kb_pipeline_tests.steps.checks.articles import description, sound
from kb_pipeline_tests.steps.chunk.articles import image


def checked(
    markdown: str | None = None, manifest: Manifest | None = None, described: DescribedImages | None = None
) -> CheckResult:
    article = sound()
    return images_are_accounted_for(
        article.converted,
        described or article.described,
        article.markdown if markdown is None else markdown,
        manifest or article.manifest,
    )


def test_a_sound_article_passes() -> None:
    assert checked() == CheckResult(
        name="images_are_accounted_for", passed=True, counts={"images": 2, "described": 2, "unreadable": 0}
    )


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda text: re.sub(r".*\[Image: menu\].*\n", "", text), "1 image missing in article.md: 'menu.png'"),
        (lambda text: re.sub(r".*\[Image: menu\].*\n", "", text, count=1), "1 image missing in article.md: 'menu.png'"),
        (lambda text: re.sub(r".*Dialog.*key.*\n", "", text), "1 image without its description in article.md: 'key"),
        (lambda text: text.replace(r"of key.png", "of another"), "1 image without its description in article.md: 'key"),
        (lambda text: text.replace("> **[Image: key]", "**[Image: key]"), "without its description"),
        (lambda text: text + "\n[[IMG:menu.png]]\n", "1 marker left in article.md: 'menu.png'"),
        (lambda text: f"```\n{text}\n```", "2 images missing in article.md"),
    ],
)
def test_what_article_md_lost_is_named(edit: Callable[[str], str], named: str) -> None:
    text = edit(sound().markdown)
    assert text != sound().markdown
    assert named in checked(text).message


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"path": "images/other.png"}, "with another path, source or description in the manifest: 'menu.png'"),
        ({"source_sha256": "0"}, "with another path, source or description in the manifest: 'menu.png'"),
        ({"description": description("x")}, "with another path, source or description in the manifest: 'menu.png'"),
        ({"source_file": "new.png"}, "1 image in the manifest only: 'new.png'"),
    ],
)
def test_what_the_manifest_says_differently_is_named(change: dict[str, object], named: str) -> None:
    first, *others = sound().manifest.images
    manifest = sound().manifest.model_copy(update={"images": (first.model_copy(update=change), *others)})
    assert named in checked(manifest=manifest).message


def test_an_image_missing_in_the_manifest_is_named() -> None:
    manifest = sound().manifest.model_copy(update={"images": sound().manifest.images[1:]})
    assert "1 image missing in the manifest: 'menu.png'" in checked(manifest=manifest).message


@pytest.mark.parametrize("warned", [True, False])
def test_an_image_that_cannot_be_decoded_is_named_and_must_be_warned_about(warned: bool) -> None:
    problem = ImageProblem(file="key.png", problem="key.png: cut short", section="Options")
    described = DescribedImages(descriptions={"menu.png": description("menu.png")}, problems=(problem,))
    images = tuple(image for image in sound().manifest.images if image.source_file == "menu.png")
    warnings = (problem.problem,) if warned else ()
    manifest = sound().manifest.model_copy(update={"images": images, "warnings": warnings})
    result = checked(manifest=manifest, described=described)
    assert not result.passed
    assert "1 image cannot be shown: key.png: cut short (shown below 'Options')" in result.message
    assert ("1 image neither described nor warned about: 'key.png'" in result.message) != warned


def test_missing_images_are_named_with_their_sections_and_what_to_do() -> None:
    lost = tuple(ImageProblem(file=f"{n}.png", problem=f"image file missing: {n}.png") for n in range(5))
    article = sound().converted.model_copy(update={"lost_images": lost})
    result = images_are_accounted_for(article, sound().described, sound().markdown, sound().manifest)
    assert result.message == (
        "5 images cannot be shown: image file missing: 0.png; image file missing: 1.png; image file missing: 2.png "
        "and 2 more. Put the missing file into the article's folder, save a damaged one again, or remove the image "
        "from the source; the article is built again when its folder changes."
    )


@pytest.mark.parametrize("fence", ["```", "~~~~", "> ```", "- ```"])
def test_images_in_code_are_not_shown(fence: str) -> None:
    indent = " " * 2 if fence.startswith("-") else ""
    code = f"{fence}\n{indent}[x](images/a.png)\n{indent}{fence[-4:].strip('> -')}\n"
    assert [shown.path for shown in shown_images(f"{code}\n[x](images/b%20c.png)")] == ["images/b c.png"]


def test_the_words_of_a_block_are_read_in_items_and_quotes() -> None:
    lines = image("a b", r"One \*two\*.").replace("(images/a b", "(images/a%20b").splitlines()
    text = "- " + "\n  ".join(lines) + "\n> " + "\n> ".join(lines)
    assert [(shown.path, shown.words) for shown in shown_images(text)] == [("images/a b.png", "One *two*.")] * 2
