"""``kb diff``: how two versions of an article differ."""

from typing import Annotated

import typer
from rich.text import Text

from kb_pipeline.cli.console import err, out, print_json
from kb_pipeline.cli.options import Article, AsJson
from kb_pipeline.history import compare_versions, list_versions
from kb_pipeline.settings import load_settings
from kb_pipeline.workspace import open_workspace

_STYLES = {"+++": "bold", "---": "bold", "@@": "cyan", "+": "green", "-": "red"}


def diff(
    article: Article,
    old: Annotated[str, typer.Argument(help="A version, or the beginning of its id; kb versions lists them.")],
    new: Annotated[str | None, typer.Argument(help="Another one; default: the version that readers see.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how two versions of an article differ, text and images, as a unified diff."""
    workspace = open_workspace(load_settings())
    other = new or next(entry.version.id for entry in list_versions(workspace, article) if entry.in_place)
    difference = compare_versions(workspace, article, old, other)
    if as_json:
        print_json({"article_id": article, "old": old, "new": other, "diff": difference})
    elif not difference:
        err.print("the text and the images are the same")
    for line in () if as_json else difference.splitlines():
        out.print(Text(line, _style(line)), soft_wrap=True)


def _style(line: str) -> str:
    return next((style for start, style in _STYLES.items() if line.startswith(start)), "")
