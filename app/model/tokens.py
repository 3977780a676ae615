"""How many tokens a text is for a language model, whichever it is."""

import math

_BYTES_PER_TOKEN = 3
"""English prose has 4 or more, code and tables fewer; 3 is on the safe side."""


def estimate_tokens(text: str) -> int:
    """A cautious estimate of the tokens of a text: one for every 3 bytes in UTF-8.

    Common tokenizers reach 4 to 4.5 bytes for English, 3 to 4 for other European languages and code, and about 3
    (one character) for Chinese or Japanese. The real ones would have to be downloaded, and differ by model.
    """
    return math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN)
