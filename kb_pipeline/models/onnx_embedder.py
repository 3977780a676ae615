"""Encoders that run in onnxruntime on the CPU: a text's pieces go in, its vector and those of its words come out.

Here: what all such models share. Not here: whose model it is, and how its graph is made or read.
"""

from abc import abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from kb_pipeline.models.base import EmbeddedPassage, EmbeddedQuestion, Embedder, Vectors, encodable
from kb_pipeline.models.onnx_graph import open_session
from kb_pipeline.models.word_pieces import Pieces, pieces_of
from kb_pipeline.steps.late_interaction import pack_words

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

TokenIds = npt.NDArray[np.int64]


class OnnxEmbedder(Embedder):
    """A tokenizer and a graph; a backend says where they come from and how the graph is asked.

    One text at a time: on one thread that is as fast as any batch, which pays for its padding, and a text's vector
    does not depend on its company, which int8 activations otherwise let it.
    """

    batch_size: ClassVar[int] = 1
    threads: int = 1
    question_prompt: str = ""
    passage_prompt: str = ""

    @abstractmethod
    def _read_tokenizer(self) -> "Tokenizer":
        """Read the model's tokenizer; whether it cuts or pads does not matter."""

    @abstractmethod
    def _model_file(self) -> Path:
        """The graph, made if need be."""

    @abstractmethod
    def _forward(self, ids: TokenIds, *, words: bool) -> tuple[Vectors, Vectors]:
        """Run the graph for token ids of shape (1, tokens).

        Returns the text's vector, shape (1, dimensions), and its tokens', shape (tokens, dimensions): those only if
        ``words`` are asked for, otherwise none of them. Any norm.
        """

    def prepare(self) -> None:
        """Make the graph's file, unless it is there, and load it.

        Raises:
            ModelError: the model's files are missing or damaged.
        """
        _ = self._session

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Embed texts as passages, each cut to ``max_tokens``.

        Raises:
            ModelError: the model's files are missing or damaged.
        """
        ids = (self._pieces(text, self.passage_prompt).ids for text in texts)
        return np.vstack([self._forward(each[None], words=False)[0] for each in ids])

    def embed_question(self, text: str) -> EmbeddedQuestion:
        """Embed a question, cut to ``max_tokens``, with its words' vectors."""
        pieces = self._pieces(encodable(text), self.question_prompt)
        vector, tokens = self._forward(pieces.ids[None], words=self.word_vectors)
        words = self._unit(tokens[pieces.words]) if self.word_vectors else None
        return EmbeddedQuestion(self._checked(vector, 1)[0], words)

    def embed_passages(self, texts: Sequence[str]) -> list[EmbeddedPassage]:
        """Embed passages, each cut to ``max_tokens``, with the vectors of their distinct words."""
        return [self._embed_passage(encodable(text)) for text in texts]

    def count_tokens(self, text: str) -> int:
        """Length in pieces, those that the model adds included."""
        return len(self._tokenizer.encode_batch_fast([self.passage_prompt + encodable(text)])[0].ids)

    def _embed_passage(self, text: str) -> EmbeddedPassage:
        pieces = self._pieces(text, self.passage_prompt)
        vector, tokens = self._forward(pieces.ids[None], words=self.word_vectors)
        words = pack_words(self._unit(tokens[pieces.distinct()])) if self.word_vectors else b""
        return EmbeddedPassage(self._checked(vector, 1)[0], words)

    def _unit(self, words: Vectors) -> Vectors:
        return self._checked(words, len(words)) if len(words) else np.zeros((0, self.dimensions), np.float32)

    def _pieces(self, text: str, prompt: str) -> Pieces:
        return pieces_of(self._tokenizer, text, self.max_tokens, prompt=prompt)

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        tokenizer = self._read_tokenizer()
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer

    @cached_property
    def _session(self) -> "onnxruntime.InferenceSession":
        return open_session(self._model_file(), self.threads)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what was said, not what was loaded: each process loads that for itself."""
        loaded = {name for kind in type(self).__mro__ for name, value in vars(kind).items() if _is_cached(value)}
        return {name: value for name, value in self.__dict__.items() if name not in loaded}


def _is_cached(value: object) -> bool:
    return isinstance(value, cached_property)
