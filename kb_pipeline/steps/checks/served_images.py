"""Is every content image served with its words? Not here: whether the conversion found them all (``image_markers``)."""

from collections import Counter
from collections.abc import Iterator, Sequence

from kb_pipeline.records import CheckResult, ConvertedArticle, DescribedImages, ImageReference, Manifest
from kb_pipeline.steps.checks.contents import markers_of
from kb_pipeline.steps.checks.results import named, outcome
from kb_pipeline.steps.checks.shown_images import shown_images


def images_are_accounted_for(
    article: ConvertedArticle, described: DescribedImages, markdown: str, manifest: Manifest
) -> CheckResult:
    """Every content image is in ``article.md`` with its description and in the manifest, or a warning says why not."""
    images = [image for image in article.images if image.file in described.descriptions]
    problems = [
        *named("image", "neither described nor warned about", _unaccounted(article, described, manifest)),
        *_manifest_problems(images, described, manifest),
        *_article_problems(images, described, article.markdown, markdown),
        *named("marker", "left in article.md", [marker.file for marker in markers_of(markdown)]),
    ]
    return outcome(
        "images_are_accounted_for",
        problems,
        "Materialise image_descriptions and serving_article again.",
        {"images": len(article.images), "described": len(images), "unreadable": len(described.problems)},
    )


def _unaccounted(article: ConvertedArticle, described: DescribedImages, manifest: Manifest) -> list[str]:
    warned = {problem.file for problem in described.problems if problem.problem in manifest.warnings}
    return [image.file for image in article.images if image.file not in warned | described.descriptions.keys()]


def _manifest_problems(
    images: Sequence[ImageReference], described: DescribedImages, manifest: Manifest
) -> Iterator[str]:
    wanted = {image.file: (_path(image), image.sha256, described.descriptions[image.file]) for image in images}
    listed = {image.source_file: (image.path, image.source_sha256, image.description) for image in manifest.images}
    differing = [file for file in wanted if file in listed and listed[file] != wanted[file]]
    yield from named("image", "missing in the manifest", [file for file in wanted if file not in listed])
    yield from named("image", "in the manifest only", [file for file in listed if file not in wanted])
    yield from named("image", "with another path, source or description in the manifest", differing)


def _article_problems(
    images: Sequence[ImageReference], described: DescribedImages, converted: str, markdown: str
) -> Iterator[str]:
    """A cell can hold a link only and its block follows the table, so that an image may be shown more often than once
    for each marker, never less often.
    """
    shown = shown_images(markdown)
    times = Counter(image.path for image in shown)
    markers = Counter(marker.file for marker in markers_of(converted))
    blocks: dict[str, set[str]] = {}
    for path, words in shown:
        if words is not None:
            blocks.setdefault(path, set()).add(words)
    missing = [image for image in images if times[_path(image)] < max(1, markers[image.file])]
    wordless = [image for image in images if blocks.get(_path(image)) != {_words(image, described)}]
    yield from named("image", "missing in article.md", [image.file for image in missing])
    yield from named("image", "without its description in article.md", [i.file for i in wordless if i not in missing])


def _path(image: ImageReference) -> str:
    return f"images/{image.stem}.png"


def _words(image: ImageReference, described: DescribedImages) -> str:
    return " ".join(described.descriptions[image.file].description.split())
