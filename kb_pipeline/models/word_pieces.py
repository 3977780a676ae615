"""Text as the pieces that a model reads, and which of them stand for words.

Here: what holds for every tokenizer of the ``tokenizers`` library. Not here: where one comes from.
"""

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_LETTER_OR_DIGIT = re.compile(r"[^\W_]")

Positions = npt.NDArray[np.intp]


class Pieces(NamedTuple):
    """``ids``, shape (pieces,), and the positions in it of the pieces of words.

    Pieces without a letter or digit, and those that the model adds itself, are none.
    """

    ids: npt.NDArray[np.int64]
    words: Positions

    def distinct(self) -> Positions:
        """Positions of the words' pieces, the first of each: what it says again, a passage need not keep."""
        first = np.unique(self.ids[self.words], return_index=True)[1]
        return self.words[np.sort(first)]


def pieces_of(tokenizer: "Tokenizer", text: str, max_tokens: int, *, prompt: str = "") -> Pieces:
    """The first ``max_tokens`` pieces of prompt and text, those that the model adds included; the prompt is no word."""
    whole = prompt + text
    encoding = _encoded(tokenizer, whole, max_tokens)
    spans = zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    words = [
        position
        for position, ((start, end), added) in enumerate(spans)
        if not added and _LETTER_OR_DIGIT.search(whole, max(start, len(prompt)), end)
    ]
    return Pieces(np.array(encoding.ids, np.int64), np.array(words, np.intp))


def _encoded(tokenizer: "Tokenizer", text: str, max_tokens: int) -> "Encoding":
    encoding = tokenizer.encode(text)
    if len(encoding) <= max_tokens:
        return encoding
    bare = tokenizer.encode(text, add_special_tokens=False)
    bare.truncate(max_tokens - tokenizer.num_special_tokens_to_add(is_pair=False))
    return tokenizer.post_process(bare)
