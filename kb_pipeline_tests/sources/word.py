"""Word documents for tests, written part by part as ECMA-376 says, without any library that reads them."""

import io
import zipfile
from collections.abc import Mapping

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_NAMESPACES = (
    f'{_W} xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '
    'xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
)
_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="xml" ContentType="application/xml"/><Default Extension="png" ContentType="image/png"/>'
    '<Default Extension="emf" ContentType="image/x-emf"/>'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType='
    '"application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>'
)
_RELATIONSHIPS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STYLES = ("Title", "Heading 1", "Heading 2", "Source Code", "Quote", "toc 1", "TOC Heading", "index 1")


def paragraph(text: str, style: str = "") -> str:
    """A paragraph in a style; the text may hold runs of its own."""
    properties = f'<w:pPr><w:pStyle w:val="{style.replace(" ", "")}"/></w:pPr>' if style else ""
    runs = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p>{properties}{runs}</w:p>"


def picture(relationship: str, alt: str = "") -> str:
    """A paragraph with an image that the relationship names."""
    return paragraph(
        f'<w:r><w:drawing><wp:inline><wp:docPr id="1" name="p" descr="{alt}"/><a:graphic><a:graphicData><pic:pic>'
        f'<pic:blipFill><a:blip r:embed="{relationship}"/></pic:blipFill></pic:pic></a:graphicData></a:graphic>'
        "</wp:inline></w:drawing></w:r>"
    )


def item(text: str, numbering: int, level: int = 0, style: str = "", indent: int | None = None) -> str:
    """A paragraph that a list counts, at a level."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    place = "" if indent is None else f'<w:ind w:left="{indent}"/>'
    counted = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{numbering}"/></w:numPr>'
    runs = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p><w:pPr>{named}{counted}{place}</w:pPr>{runs}</w:p>"


def level(at: int, text: str = "", kind: str = "decimal", start: int = 1, more: str = "") -> str:
    """A level of a list: what is printed before its items ("%1." by default), in which kind of numbers."""
    return (
        f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/>{more}'
        f'<w:lvlText w:val="{text or f"%{at + 1}."}"/></w:lvl>'
    )


def numbering(*definitions: tuple[str, ...], instances: str = "") -> dict[str, str]:
    """The part that defines lists: ``numId`` 1 is an instance of the first definition, and so on."""
    abstract = "".join(
        f'<w:abstractNum w:abstractNumId="{number}">{"".join(levels)}</w:abstractNum>'
        for number, levels in enumerate(definitions, 1)
    )
    plain = "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="{number}"/></w:num>'
        for number in range(1, len(definitions) + 1)
    )
    return {"word/numbering.xml": f"<w:numbering {_W}>{abstract}{plain}{instances}</w:numbering>"}


def style(key: str, based_on: str = "", name: str = "", properties: str = "", runs: str = "") -> str:
    """A style of paragraphs."""
    base = f'<w:basedOn w:val="{based_on}"/>' if based_on else ""
    return (
        f'<w:style w:type="paragraph" w:styleId="{key}"><w:name w:val="{name or key}"/>{base}'
        f"<w:pPr>{properties}</w:pPr><w:rPr>{runs}</w:rPr></w:style>"
    )


def styles(*written: str) -> dict[str, str]:
    """The part that defines styles."""
    return {"word/styles.xml": f"<w:styles {_W}>{''.join(written)}</w:styles>"}


def table(*rows: tuple[str, ...]) -> str:
    """A table whose first row is its head."""
    head = "<w:trPr><w:tblHeader/></w:trPr>"
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return "<w:tbl>" + "".join(f"<w:tr>{'' if at else head}{row}</w:tr>" for at, row in enumerate(cells)) + "</w:tbl>"


def document(
    *body: str,
    media: Mapping[str, bytes] | None = None,
    parts: Mapping[str, str | bytes] | None = None,
    notes: Mapping[str, str] | None = None,
) -> bytes:
    """A document. ``media`` are images: the relationship ``rId1`` is the first of them; ``parts`` are further files.

    ``notes`` are the footnotes or comments, by the kind.
    """
    beside = "".join(f'<Relationship Id="{kind}" Type="{_OFFICE}/{kind}" Target="{kind}.xml"/>' for kind in notes or {})
    images = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/image" Target="media/{name}"/>'
        for number, name in enumerate(media or {}, 1)
    )
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="{name.replace(" ", "")}"><w:name w:val="{name}"/></w:style>'
        for name in _STYLES
    )
    files: dict[str, str | bytes] = {
        "[Content_Types].xml": _TYPES,
        "_rels/.rels": f'{_RELATIONSHIPS}<Relationship Id="a" Type="{_OFFICE}/officeDocument" '
        'Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"<w:document {_NAMESPACES}><w:body>{''.join(body)}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_W}>{styles}</w:styles>",
        "word/_rels/document.xml.rels": f'{_RELATIONSHIPS}<Relationship Id="s" Type="{_OFFICE}/styles" '
        f'Target="styles.xml"/>{images}{beside}</Relationships>',
        **{f"word/{kind}.xml": f"<w:{kind} {_W}>{text}</w:{kind}>" for kind, text in (notes or {}).items()},
        **{f"word/media/{name}": data for name, data in (media or {}).items()},
        **(parts or {}),
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as container:
        for name, data in files.items():
            container.writestr(name, data)
    return packed.getvalue()
