"""Our conversion alone: a page's HTML and the headers of its images become markdown; nothing is described or served.

    python -m benchmarks.converters.ours --pages LIST --out FOLDER

Its markers for images are written as plain markdown images, afterwards and untimed, so that a scorer sees them.
"""

import argparse
import json
from pathlib import Path
from urllib.parse import quote

from benchmarks.converters.timing import convert_all, read_list
from kb_pipeline.steps.formats import may_be_picture
from kb_pipeline.steps.html import convert_html
from kb_pipeline.steps.images.probe import probe_image
from kb_pipeline.steps.markers import find_markers


def convert(article: Path) -> str:
    """Markdown with markers."""
    images = {
        file.name: probe_image(file.name, file.read_bytes())
        for file in sorted(article.iterdir())
        if may_be_picture(file.name)
    }
    return convert_html(article.name, (article / "index.html").read_bytes(), images).markdown


def with_images(markdown: str) -> str:
    """The same with ``![](images/<file>)`` where a marker was."""
    parts, start = [], 0
    for marker in find_markers(markdown):
        parts += [markdown[start : marker.start], f"![](images/{quote(marker.file)})"]
        start = marker.end
    return "".join([*parts, markdown[start:]])


def main() -> None:
    """Convert all pages of the list."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    pages = read_list(arguments.pages)
    print(json.dumps(convert_all(convert, pages, arguments.out)))
    for page in pages:
        path = arguments.out / page.name / "article.md"
        path.write_text(with_images(path.read_text()))


if __name__ == "__main__":
    main()
