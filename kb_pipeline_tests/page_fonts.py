"""The fonts of the chat page, cut to what its readers see first: its icons, and the letters of European languages.

``make icons`` writes them into ``app/page/vendor``, from those of the installed Streamlit. Of other letters and styles,
browsers fetch Streamlit's.
"""

import ast
import io
import re
from collections.abc import Iterator
from pathlib import Path

import streamlit
from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

from app.page.frame import ICONS, LETTERS, SANS, SERIF

ROOT = Path(__file__).parents[1]
STREAMLIT = Path(streamlit.__file__).parent
SCRIPTS = STREAMLIT / "static" / "static" / "js"
MEDIA = STREAMLIT / "static" / "static" / "media"

_SHORTCODE = re.compile(r":material/([a-z0-9_]+):")
_DRAWN = re.compile(r'<span aria-hidden="true">([a-z0-9_]+)</span>')
_LAYOUT = ["kern", "liga", "tnum", "ccmp", "locl", "mark", "mkmk", "calt"]
"""What letters need beside each other, and figures below each other."""
_NAMES = [0, 1, 2, 3, 4, 6, 13, 14]
"""Copyright, name and licence."""
_HEADING = {"wght": 600, "opsz": 24}
"""Headings have one weight (``config.toml``), and 18 to 34 pixels."""


def icons_used() -> frozenset[str]:
    """The names of all icons that the page and Streamlit may show."""
    ours = [path for path in (ROOT / "app/page").rglob("*") if path.suffix in (".py", ".html", ".js")]
    texts = [path.read_text(encoding="utf-8") for path in (*ours, *SCRIPTS.glob("*.js"))]
    texts += [text for path in (STREAMLIT / "elements").rglob("*.py") for text in _strings(path)]
    return frozenset(name for text in texts for find in (_SHORTCODE, _DRAWN) for name in find.findall(text))


def icons_in(file: Path) -> dict[str, str]:
    """The names of the icons of a font, which it shows in place of them, with those of their glyphs."""
    font = TTFont(file)
    letters = {glyph: chr(code) for code, glyph in font.getBestCmap().items()}
    return {
        "".join(letters[each] for each in (first, *ligature.Component)): ligature.LigGlyph
        for lookup in font["GSUB"].table.LookupList.Lookup
        for table in lookup.SubTable
        for first, ligatures in getattr(table, "ExtSubTable", table).ligatures.items()
        for ligature in ligatures
    }


def _strings(path: Path) -> Iterator[str]:
    """The strings of a module, without those that describe its functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    documentation = {ast.get_docstring(each, clean=False) for each in ast.walk(tree) if isinstance(each, described)}
    for each in ast.walk(tree):
        if isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value not in documentation:
            yield each.value


def _icons() -> bytes:
    [file] = MEDIA.glob("MaterialSymbols-Rounded.*.woff2")
    known = icons_in(file)
    options = Options(layout_closure=False, layout_features=["rlig"], notdef_outline=True, name_IDs=_NAMES)
    subsetter = Subsetter(options)
    used = icons_used() & known.keys()
    font = TTFont(file, recalcTimestamp=False)
    icons = set(known.values())
    # all letters and the space: for one that is missing here, browsers fetch the whole font
    letters = [code for code, glyph in font.getBestCmap().items() if glyph not in icons]
    subsetter.populate(unicodes=letters, glyphs=[known[name] for name in used])
    subsetter.subset(font)
    return _written(font)


def _letters(original: str, name: str, axes: dict[str, float] | None = None) -> bytes:
    """A font with European letters only; its makers want others to give what they change another name."""
    [file] = MEDIA.glob(original)
    font = TTFont(file, recalcTimestamp=False)
    subsetter = Subsetter(Options(layout_features=_LAYOUT, hinting=False, name_IDs=_NAMES))
    subsetter.populate(unicodes=[code for first, last in LETTERS for code in range(first, last + 1)])
    subsetter.subset(font)
    if axes:
        font.flavor = None
        whole = io.BytesIO()
        font.save(whole)
        font = instantiateVariableFont(TTFont(whole, recalcTimestamp=False), axes)
    for number in (1, 3, 4, 6):
        font["name"].setName(name.replace(" ", "") if number == 6 else name, number, 3, 1, 0x409)
    return _written(font)


def _written(font: TTFont) -> bytes:
    font.flavor = "woff2"
    file = io.BytesIO()
    font.save(file)
    return file.getvalue()


def main() -> None:
    """Write the fonts."""
    ICONS.write_bytes(_icons())
    SANS.write_bytes(_letters("SourceSansVF-Upright.*.woff2", "Page Sans"))
    SERIF.write_bytes(_letters("SourceSerifVariable-Roman.*.woff2", "Page Serif", _HEADING))


if __name__ == "__main__":
    main()
