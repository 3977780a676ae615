"""Letters that a font shows as signs, such as those of Wingdings, become the signs that readers see."""

from mammoth.docx.dingbats import dingbats

SIGN_FONTS = frozenset({"Wingdings", "Wingdings 2", "Wingdings 3", "Webdings", "Symbol"})
"""Fonts whose letters are signs, which mammoth knows."""
PRIVATE_SIGNS = range(0xF020, 0xF100)
"""Where Office keeps the letters of such a font."""


def as_signs(text: str, of_letters: str, of_signs: str) -> str:
    """Return a text as readers see it, by the fonts of its letters and of its signs; what is not known stays."""

    def sign(letter: str) -> str:
        is_private = ord(letter) in PRIVATE_SIGNS
        key = (of_signs or of_letters, ord(letter) - 0xF000) if is_private else (of_letters, ord(letter))
        return chr(dingbats.get(key, ord(letter)))

    return "".join(map(sign, text)) if SIGN_FONTS & {of_letters, of_signs} else text
