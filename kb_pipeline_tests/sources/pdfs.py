"""PDF files for tests, written object by object as ISO 32000-2 says."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from PIL import Image
from pypdf import PdfReader, PdfWriter


@dataclass(frozen=True)
class Text:
    """A line of text; ``y`` counts from the foot of the page, and ``mode`` 3 is invisible."""

    text: str
    x: float = 72
    y: float = 700
    size: float = 12
    font: str = "F1"
    page: int = 0
    mode: int = 0


@dataclass(frozen=True)
class Shape:
    """Operators that paint something, such as ``"0 0 10 10 re f"``."""

    operators: str
    page: int = 0


@dataclass(frozen=True)
class Tag:
    """An element of the structure tree, with elements, texts and shapes inside."""

    kind: str
    children: "Sequence[Tag | Text | Shape]" = ()
    attributes: str = ""
    alt: str = ""
    actual: str = ""


@dataclass
class Sheet:
    """What a page shows besides the texts that the tags hold."""

    texts: Sequence[Text] = ()
    image: Image.Image | None = None
    image_box: tuple[float, float, float, float] = (0, 0, 612, 792)
    drawing: str = ""
    size: tuple[float, float] = (612, 792)
    entries: str = ""
    annotations: Sequence[str] = field(default_factory=tuple)


def text_pdf(*pages: Sequence[str]) -> bytes:
    """A PDF with these lines on its pages, from the top."""
    return pdf(*(Sheet([Text(line, y=720 - 16 * place) for place, line in enumerate(lines)]) for lines in pages))


def pdf(*sheets: Sheet, tags: Tag | None = None) -> bytes:
    """A PDF with these pages, and a structure tree if there are tags."""
    objects: list[bytes] = [b"", b""]

    def add(body: bytes | str) -> int:
        objects.append(body.encode("latin-1") if isinstance(body, str) else body)
        return len(objects)

    fonts = add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
    fixed = add("<</Type/Font/Subtype/Type1/BaseFont/Courier/Encoding/WinAnsiEncoding>>")
    marked: list[list[tuple[int, Text | Shape]]] = [[] for _ in sheets]
    parents: list[list[int]] = [[] for _ in sheets]
    numbers = [add("") for _ in sheets]
    root = _tree(tags, objects, add, numbers, marked, parents) if tags else 0
    for place, sheet in enumerate(sheets):
        content = sheet.drawing + "".join(_shown(text) for text in sheet.texts)
        content += "".join(f"/P <</MCID {mcid}>> BDC\n{_shown(text)}EMC\n" for mcid, text in marked[place])
        resources = f"/Font<</F1 {fonts} 0 R/F2 {fixed} 0 R>>"
        if sheet.image:
            left, bottom, right, top = sheet.image_box
            content += f"q {right - left} 0 0 {top - bottom} {left} {bottom} cm /I Do Q\n"
            resources += f"/XObject<</I {add(_jpeg(sheet.image))} 0 R>>"
        stream = add(f"<</Length {len(content)}>>stream\n{content}\nendstream")
        annotations = f"/Annots[{' '.join(sheet.annotations)}]" if sheet.annotations else ""
        objects[numbers[place] - 1] = (
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 {sheet.size[0]} {sheet.size[1]}]/Resources<<{resources}>>"
            f"/Contents {stream} 0 R/StructParents {place}{annotations}{sheet.entries}>>"
        ).encode("latin-1")
    tree = f"/StructTreeRoot {root} 0 R/MarkInfo<</Marked true>>" if root else ""
    objects[0] = f"<</Type/Catalog/Pages 2 0 R{tree}>>".encode()
    kids = " ".join(f"{number} 0 R" for number in numbers)
    objects[1] = f"<</Type/Pages/Count {len(sheets)}/Kids[{kids}]>>".encode()
    return file_of(objects)


def vertical_pdf(*columns: str) -> bytes:
    """A PDF with these columns of Japanese, from the right, in a font that no file has inside."""
    content = "".join(
        f"BT /F1 14 Tf {500 - 22 * place} 720 Td <{column.encode('utf-16-be').hex()}> Tj ET\n"
        for place, column in enumerate(columns)
    )
    return file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R>>",
            b"<</Type/Font/BaseFont/Mincho/Encoding/UniJIS-UTF16-V/Subtype/Type0/DescendantFonts[6 0 R]>>",
            f"<</Length {len(content)}>>stream\n{content}\nendstream".encode(),
            b"<</Type/Font/Subtype/CIDFontType0/BaseFont/Mincho/FontDescriptor 7 0 R"
            b"/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>>>",
            b"<</Type/FontDescriptor/FontName/Mincho/Flags 6/FontBBox[0 -200 1000 900]/Ascent 800/Descent -200>>",
        ]
    )


def right_to_left_pdf(*lines: str) -> bytes:
    """A PDF with these lines of a script from right to left, painted from left to right as programs do.

    Numbers and Latin words go from left to right in them.
    """
    letters = sorted({letter for line in lines for letter in line if not letter.isascii()})
    codes = {letter: 128 + place for place, letter in enumerate(letters)}
    names = " ".join(f"/uni{ord(letter):04X}" for letter in letters)
    content = ""
    for place, line in enumerate(lines):
        runs = re.split(r"([A-Za-z\d]+(?: [A-Za-z\d]+)*)", line)[::-1]
        painted = "".join(run if run[:1].isascii() and run[:1].isalnum() else run[::-1] for run in runs)
        shown = bytes(codes.get(letter, ord(letter) & 127) for letter in painted).hex()
        content += f"BT /F1 12 Tf 72 {700 - 16 * place} Td <{shown}> Tj ET\n"
    widths = " ".join(str(450 + 20 * (code % 7)) for code in range(256))
    return file_of(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 4 0 R>>>>/Contents 5 0 R>>",
            f"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/FirstChar 0/LastChar 255/Widths[{widths}]"
            f"/Encoding<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[128 {names}]>>>>".encode(),
            f"<</Length {len(content)}>>stream\n{content}\nendstream".encode(),
        ]
    )


def changed(data: bytes, *, password: str = "", title: str = "", **facts: str) -> bytes:
    """The same PDF with a title and other facts, or with a password that a reader has to give."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.add_metadata({"/Title": title, **{f"/{name}": value for name, value in facts.items()}})
    if password:
        writer.encrypt(password, "owner", algorithm="AES-256")
    return written(writer)


def written(writer: PdfWriter) -> bytes:
    sink = io.BytesIO()
    writer.write(sink)
    return sink.getvalue()


def reading(data: bytes) -> PdfWriter:
    """A writer of pypdf with the pages of the PDF."""
    return PdfWriter(clone_from=PdfReader(io.BytesIO(data)))


def _tree(
    tags: Tag,
    objects: list[bytes],
    add: "object",
    pages: Sequence[int],
    marked: list[list[tuple[int, Text | Shape]]],
    parents: list[list[int]],
) -> int:
    assert callable(add)

    def element(tag: Tag, parent: int) -> int:
        number = int(add(""))
        kids = []
        for child in tag.children:
            if isinstance(child, Tag):
                kids.append(f"{element(child, number)} 0 R")
                continue
            mcid = len(marked[child.page])
            marked[child.page].append((mcid, child))
            parents[child.page].append(number)
            kids.append(f"<</Type/MCR/Pg {pages[child.page]} 0 R/MCID {mcid}>>")
        attributes = f"/A<<{tag.attributes}>>" if tag.attributes else ""
        attributes += f"/Alt({tag.alt})" if tag.alt else ""
        attributes += f"/ActualText({tag.actual})" if tag.actual else ""
        objects[number - 1] = (
            f"<</Type/StructElem/S/{tag.kind}/P {parent} 0 R/K[{' '.join(kids)}]{attributes}>>".encode("latin-1")
        )
        return number

    root = int(add(""))
    top = element(tags, root)
    numbers = " ".join(
        f"{place} [{' '.join(f'{number} 0 R' for number in found)}]" for place, found in enumerate(parents)
    )
    objects[root - 1] = f"<</Type/StructTreeRoot/K {top} 0 R/ParentTree<</Nums[{numbers}]>>>>".encode()
    return root


def _shown(text: Text | Shape) -> str:
    if isinstance(text, Shape):
        return f"{text.operators}\n"
    escaped = text.text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
    return f"BT /{text.font} {text.size} Tf {text.mode} Tr {text.x} {text.y} Td ({escaped}) Tj ET\n"


def _jpeg(image: Image.Image) -> bytes:
    sink = io.BytesIO()
    image.convert("RGB").save(sink, "JPEG")
    data = sink.getvalue()
    head = (
        f"<</Type/XObject/Subtype/Image/Width {image.width}/Height {image.height}/ColorSpace/DeviceRGB"
        f"/BitsPerComponent 8/Filter/DCTDecode/Length {len(data)}>>stream\n"
    )
    return head.encode() + data + b"\nendstream"


def file_of(objects: Sequence[bytes], trailer: Mapping[str, str] = {}) -> bytes:
    """The file of these objects, which are numbered from 1; the first is the catalog."""
    out = bytearray(b"%PDF-1.7\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % place for place in places)
    entries = "".join(f"/{name} {value}" for name, value in trailer.items())
    out += f"trailer<</Size {len(objects) + 1}/Root 1 0 R{entries}>>\nstartxref\n{start}\n%%EOF".encode()
    return bytes(out)
