"""Images of an article as figures: the block that the pipeline writes for an image becomes the image itself.

Such a block is a quotation that begins with a bold link ``[Image: <stem>](...)``; its other lines describe the image.
"""

from html import escape

from markdown_it.token import Token

from app.grounding.citations import IMAGE_ROUTE


def image_html(url: str, alt: str) -> str:
    """An image that opens in full where it is clicked."""
    shown = f'<img src="{escape(url)}" alt="{escape(alt)}" loading="lazy">'
    return f'<a class="kb-image" href="{escape(url)}" target="_blank" rel="noopener noreferrer">{shown}</a>'


def as_figures(tokens: list[Token]) -> None:
    """Turn the blocks of images into figures; their descriptions unfold below them."""
    for at, token in enumerate(tokens):
        if token.type == "blockquote_open" and (inline := _image_block(tokens, at)):
            _to_figure(tokens, at, inline)


def _image_block(tokens: list[Token], at: int) -> Token | None:
    """The first paragraph of the quotation, if it begins like an image."""
    inline = tokens[at + 2] if len(tokens) > at + 2 and tokens[at + 1].type == "paragraph_open" else None
    if inline is None or inline.children is None:
        return None
    begins = [child for child in inline.children[:4] if child.type != "text" or child.content]
    kinds = [child.type for child in begins[:3]]
    if kinds != ["strong_open", "link_open", "text"] or not begins[2].content.startswith("Image: "):
        return None
    return inline if str(begins[1].attrGet("href")).startswith(IMAGE_ROUTE) else None


def _to_figure(tokens: list[Token], at: int, inline: Token) -> None:
    children = inline.children or []
    link = next(child for child in children if child.type == "link_open")
    name = next(child.content for child in children if child.content).removeprefix("Image: ")
    end = next(i for i, child in enumerate(children) if child.type == "strong_close")
    description = children[end + 1 :]
    while description and description[0].type in ("softbreak", "hardbreak"):
        del description[0]
    inline.children = [_own_line(child) for child in description]
    opening = f'<figure class="kb-figure">{image_html(str(link.attrGet("href")), name)}'
    _replace(tokens[at], f"{opening}<details><summary>What this image shows</summary>\n")
    _replace(_closing(tokens, at), "</details></figure>\n")


def _own_line(token: Token) -> Token:
    return Token("hardbreak", "br", 0) if token.type == "softbreak" else token


def _closing(tokens: list[Token], at: int) -> Token:
    return next(t for t in tokens[at + 1 :] if t.type == "blockquote_close" and t.level == tokens[at].level)


def _replace(token: Token, html: str) -> None:
    token.type, token.tag, token.content = "html_block", "", html
