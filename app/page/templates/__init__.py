"""The HTML of the page. Templates escape everything that they are given, except HTML that they mark as ``safe``."""

from pathlib import Path
from typing import TypeGuard
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.page.labels import day, moment
from app.page.places import article_link, investigation_link
from kb_pipeline.steps.chunk import plain_text
from kb_pipeline.wording import counted

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, macro: str, *values: object) -> str:
    """The HTML that a macro of a template makes of these values."""
    return str(getattr(_TEMPLATES.get_template(f"{template}.html").module, macro)(*values)).strip()


def is_web(url: str | None) -> TypeGuard[str]:
    """Whether this is an HTTP address, which is safe to link to."""
    return url is not None and urlsplit(url).scheme in ("http", "https")


def plain(markdown: str) -> str:
    """A piece of markdown as plain text, with the white space around it."""
    start, end = len(markdown) - len(markdown.lstrip()), len(markdown.rstrip())
    return markdown if start >= end else markdown[:start] + plain_text(markdown) + markdown[end:]


def signed(value: float) -> str:
    """A difference with its sign, to three decimal places."""
    return f"{value:+.3f}".replace("-", "−") if round(value, 3) else "0.000"


_TEMPLATES.filters |= {
    "article_link": article_link,
    "counted": counted,
    "day": day,
    "investigation_link": investigation_link,
    "moment": moment,
    "plain": plain,
    "signed": signed,
}
_TEMPLATES.tests["web"] = is_web
