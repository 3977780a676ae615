"""The numbers of list items as programs print them: in letters, in Roman digits."""

_LONGEST_ROMAN, _LONGEST_LETTERS = 3999, 260
"""Numbers above these are written as digits."""


def written_number(number: int, kind: str) -> str:
    """Write a number; ``kind`` is the name of a format in Word (ECMA-376 part 1, 17.18.59), digits for others."""
    if kind in ("lowerLetter", "upperLetter") and 0 < number <= _LONGEST_LETTERS:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if kind == "lowerLetter" else letter.upper()
    if kind in ("lowerRoman", "upperRoman") and 0 < number <= _LONGEST_ROMAN:
        roman = _roman(number)
        return roman if kind == "lowerRoman" else roman.upper()
    if kind == "decimalZero":
        return f"{number:02}"
    return "" if kind in ("none", "bullet") else str(number)


def _roman(number: int) -> str:
    digits = (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x")
    written = ""
    for worth, letters in (*digits, (9, "ix"), (5, "v"), (4, "iv"), (1, "i")):
        written += letters * (number // worth)
        number %= worth
    return written
