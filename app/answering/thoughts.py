"""Leaves out what a model says to itself first, where its server does not keep that apart. Pure."""

_OPENING, _CLOSING = "<think>", "</think>"


class WithoutThoughts:
    """Takes a text piece by piece and gives it back without the ``<think>...</think>`` that it begins with.

    Open reasoning models write their thoughts so; most servers pass them on in a field of their own, some do not.
    """

    def __init__(self) -> None:
        self._held = ""
        self.spoken = False

    def feed(self, piece: str) -> str:
        """What may be said now."""
        if self.spoken:
            return piece
        self._held += piece
        begun = self._held.lstrip()
        if _OPENING.startswith(begun[: len(_OPENING)]):
            if _CLOSING not in begun:
                self._held = begun[: len(_OPENING)] + begun[len(_OPENING) :][-len(_CLOSING) :]
                return ""
            begun = begun.partition(_CLOSING)[2].lstrip()
        self.spoken = bool(begun)
        return begun

    def finish(self) -> str:
        """What was held back and may be said after all; thoughts without an end may not."""
        begun = "" if self.spoken else self._held.lstrip()
        if begun.startswith(_OPENING):
            return ""
        self.spoken = self.spoken or bool(begun)
        return begun
