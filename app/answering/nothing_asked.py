"""Whether a message asks nothing at all: a greeting, a try of the keyboard, signs without a word.

Some of it is known by its form and by the courtesies of :mod:`app.answering.planning.manners`, what only means as much
by its vector, as far as the embedder knows the language. It decides about gaps alone: whoever asks is answered.
"""

import re
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from app.answering.planning.manners import courtesy_in
from kb_pipeline.models.base import Embedder

_WORD = re.compile(r"[^\W\d_]+")
_MASKED = re.compile(r"\[[a-z -]+\]")
"""What stands where a name or an address stood."""
_REPEATS = re.compile(r"(\w{1,3}?)\1{2,}")
"""A word that is one sound several times: "hahaha", "xxx"."""
_MOST_WORDS = 6
"""Words of a message that may ask nothing; who writes more wants something."""
_EXAMPLES = (
    *("hello", "good morning", "how are you?", "thank you", "goodbye", "great, that helped"),
    *("test", "this is just a test", "asdf", "foo bar baz", "blah blah blah", "lorem ipsum"),
)
"""Messages that ask nothing, one of each kind: others are known by being like them."""
_LIKE = 0.37
"""How far a message must be like one of them, from 0, as they are among themselves, to 1. With the default embedder
that is a cosine of .50. None of 2,238 questions of samples and benchmarks reaches it (.48 at most), and none of 41 gaps
of a word or a few ("okta saml", "dark mode": .35 at most). Of 100 messages that ask nothing, 60 of them nonsense and 40
greetings in 20 languages, 41 are known by all rules together: most English ones, and few in languages that the
embedder does not know."""


def says_nothing(text: str) -> bool:
    """Whether a message has no word, repeats one sound or word, or is a courtesy, by its form alone."""
    said = _MASKED.sub(" ", text).strip(" ,")
    words = [word.casefold() for word in _WORD.findall(said)]
    is_one = len(words) > 1 and len(set(words)) == 1
    return not words or is_one or all(map(_REPEATS.fullmatch, words)) or courtesy_in(said) is not None


def asks_nothing(text: str, embedder: Embedder) -> bool:
    """Whether a message says nothing, or means no more than such ones.

    Raises:
        KnowledgeBaseError: the embedding model cannot be used.
    """
    if says_nothing(text):
        return True
    said = _MASKED.sub(" ", text).strip(" ,")
    if len(said.split()) > _MOST_WORDS:
        return False
    examples, unlike = _examples(embedder)
    likeness = float((examples @ _direction(embedder, said)).max())
    return likeness >= unlike + _LIKE * (1 - unlike)


@lru_cache(maxsize=4)
def _examples(embedder: Embedder) -> tuple[npt.NDArray[np.float32], float]:
    """The directions of the examples, and the median of how like they are, which is no likeness at all."""
    vectors = np.stack([_direction(embedder, each) for each in _EXAMPLES])
    among = (vectors @ vectors.T)[np.triu_indices(len(vectors), 1)]
    return vectors, float(np.median(among))


def _direction(embedder: Embedder, text: str) -> npt.NDArray[np.float32]:
    vector = np.asarray(embedder.embed_question(text).vector, np.float32)
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
