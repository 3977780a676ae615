"""Is every content image of the HTML in the markdown? Not here: what is served of them (``served_images``)."""

from collections import Counter

from kb_pipeline.records import CheckResult, ConvertedArticle
from kb_pipeline.steps.checks.contents import markers_of
from kb_pipeline.steps.checks.results import named, number, outcome


def images_are_placed(article: ConvertedArticle) -> CheckResult:
    """Every content image of the HTML has its marker, as often as the HTML shows it, and every marker its image."""
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
        "Compare the converted markdown with index.html, then materialise converted_markdown again; if it stays so, "
        "choose another analyzer.",
        {"images": len(files), "markers": markers.total()},
    )
