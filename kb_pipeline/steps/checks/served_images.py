"""Check that every content image has its marker in the converted markdown, and is served with its description."""

from collections import Counter
from collections.abc import Iterator, Sequence

from kb_pipeline.records import (
    CheckResult,
    ConvertedArticle,
    DescribedImages,
    ImageProblem,
    ImageReference,
    Manifest,
    Unplaced,
)
from kb_pipeline.steps.checks.contents import markers_of, shown_images
from kb_pipeline.steps.checks.specs import named, number, outcome, short

_NAMED = 3
"""Images that a message names; of more, the others are counted."""
_ADVICE_IF_LOST = (
    "Put the missing file into the article's folder, save a damaged one again, or remove the image from the source; "
    "the article is built again when its folder changes."
)


def images_are_placed(article: ConvertedArticle) -> CheckResult:
    """Check that each image of the HTML has as many markers as places in the HTML, and each marker its image."""
    markers = Counter(marker.file for marker in markers_of(article.markdown))
    files = Counter(image.file for image in article.images)
    problems = [
        *named("image", "without a marker", [file for file in files if file not in markers]),
        *named("marker", "without an image", [file for file in markers if file not in files]),
        *named("image", "listed more than once", [file for file in files if files[file] > 1]),
    ]
    if markers.total() != article.counts.images and not problems:
        problems.append(f"the HTML shows images in {number(article.counts.images, 'place')}, not {markers.total():,}")
    return outcome(
        "images_are_placed",
        problems,
        "Compare the converted markdown with the source, then materialize converted_markdown again. If the check still "
        "fails, choose another analyzer.",
        {"images": len(files), "markers": markers.total()},
    )


def positions_are_known(article: ConvertedArticle) -> CheckResult:
    """Check that no image or link stands at the end of its section because a service lost its place."""
    problems = [
        f"{article.article_id}: {number(len(lost), kind)} of {total:,} without a place: {_positions(lost)}"
        for kind, total in (("image", article.counts.images), ("link", article.counts.links))
        if (lost := [one for one in article.unplaced if one.kind == kind])
    ]
    return outcome(
        "positions_are_known",
        problems,
        f"{article.converter} gave other words than those around them in the source. Convert the article with another "
        "analyzer (KB_ANALYZER=local loses no place), or write these passages more plainly; then materialize "
        "converted_markdown again.",
        {"unplaced": len(article.unplaced)},
    )


def _positions(lost: Sequence[Unplaced]) -> str:
    named = [f"{short(one.name)!r}" + (f" below {short(one.section)!r}" if one.section else "") for one in lost]
    more = len(named) - _NAMED
    return ", ".join(named[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def images_are_accounted_for(
    article: ConvertedArticle, described: DescribedImages, markdown: str, manifest: Manifest
) -> CheckResult:
    """Check that every content image is in ``article.md`` and the manifest, described.

    An image that is missing in the article's folder or cannot be decoded fails the check, too. Should it only warn, a
    warning in the manifest must say why the image is not shown.
    """
    images = [image for image in article.images if image.file in described.descriptions]
    warned = {problem.file for problem in described.problems if problem.problem in manifest.warnings}
    ignored = [image.file for image in article.images if image.file not in warned | described.descriptions.keys()]
    problems = [
        *named("image", "neither described nor warned about", ignored),
        *_manifest_problems(images, described, manifest),
        *_article_problems(images, described, article.markdown, markdown),
        *named("marker", "left in article.md", [marker.file for marker in markers_of(markdown)]),
    ]
    lost = [*article.lost_images, *described.problems]
    advice = [
        *([_ADVICE_IF_LOST] if lost else ()),
        *(["Materialize image_descriptions and serving_article again."] if problems else ()),
    ]
    return outcome(
        "images_are_accounted_for",
        [*_lost_problems(lost), *problems],
        " ".join(advice),
        {"images": len(article.images), "described": len(images), "unreadable": len(lost)},
    )


def _lost_problems(lost: Sequence[ImageProblem]) -> Iterator[str]:
    """Report images that readers would miss, each with its file, the reason and its section."""
    if lost:
        shown = "; ".join(
            problem.problem + (f" (shown below {short(problem.section)!r})" if problem.section else "")
            for problem in lost[:_NAMED]
        )
        more = f" and {len(lost) - _NAMED:,} more" if len(lost) > _NAMED else ""
        yield f"{number(len(lost), 'image')} cannot be shown: {shown}{more}"


def _manifest_problems(
    images: Sequence[ImageReference], described: DescribedImages, manifest: Manifest
) -> Iterator[str]:
    expected = {image.file: (_path(image), image.sha256, described.descriptions[image.file]) for image in images}
    listed = {image.source_file: (image.path, image.source_sha256, image.description) for image in manifest.images}
    differing = [file for file in expected if file in listed and listed[file] != expected[file]]
    yield from named("image", "missing in the manifest", [file for file in expected if file not in listed])
    yield from named("image", "in the manifest only", [file for file in listed if file not in expected])
    yield from named("image", "with another path, source or description in the manifest", differing)


def _article_problems(
    images: Sequence[ImageReference], described: DescribedImages, converted: str, markdown: str
) -> Iterator[str]:
    """Report images that ``article.md`` shows less often than the conversion marked, or without their description.

    A table cell holds only a link and the block follows the table, so an image may be shown more often than marked.
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
