"""Builds the documentation as a site, ``python -m kb_pipeline_tests.docs_site``, from the pages of the repository.

They lie in the site as they lie in the repository, with every file that they link to: links that work there work here.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAID_OUT = ROOT / ".site/pages"
BUILT = ROOT / ".site/html"
START = "README.md"
_CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def links(page: Path) -> set[str]:
    """What a page links to in this repository, anchors included."""
    return {target for target in LINK.findall(_CODE.sub("", page.read_text())) if "://" not in target}


def reachable(start: Path) -> set[Path]:
    """A page, and all that its links and the links of those pages lead to."""
    found, waiting = {start}, [start]
    while waiting:
        page = waiting.pop()
        if page.suffix == ".md":
            new = set(_files_linked_from(page)) - found
            found |= new
            waiting += new
    return found


def _files_linked_from(page: Path) -> Iterator[Path]:
    for target in links(page):
        path = target.partition("#")[0]
        if path:
            yield (page.parent / path).resolve()


def lay_out() -> None:
    """Copy what can be reached from the start page."""
    shutil.rmtree(LAID_OUT, ignore_errors=True)
    for path in reachable(ROOT / START):
        copy = LAID_OUT / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def build() -> int:
    """Make the site; other than 0 if a link leads nowhere."""
    lay_out()
    zensical = Path(sys.executable).with_name("zensical")
    made = subprocess.run([zensical, "build", "--clean", "--strict"], cwd=ROOT, check=False).returncode
    for path in LAID_OUT.rglob(".*"):  # Zensical leaves out names that begin with a dot
        shutil.copyfile(path, BUILT / path.relative_to(LAID_OUT))
    return made


if __name__ == "__main__":
    sys.exit(build())
