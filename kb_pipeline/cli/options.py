"""Arguments that several commands take, with one spelling and one help text."""

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, for programs.")]
Article = Annotated[str, typer.Argument(help="The article's id: the name of its folder.")]
OnlyArticles = Annotated[
    list[str] | None, typer.Option("--article", metavar="ID", help="Only this article; may be given several times.")
]
ThisAnalyzer = Annotated[
    str | None,
    typer.Option("--analyzer", help="local, content-understanding or mistral-doc-ai, this once; default: KB_ANALYZER."),
]
