"""What services answered, as it came: kept by what was sent, so that a better restorer costs nothing.

An analyzer asks through :func:`ask`. What is kept, and where, is decided by the code around it, with :func:`keeping`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from kb_pipeline.steps.fingerprint import fingerprint, sha256

Answers = Mapping[str, tuple[str, ...]]
"""Texts that a service returned, by the fingerprint of the request."""


class _Keeper:
    def __init__(self, known: Answers, may_ask: bool) -> None:
        self.known, self.may_ask = known, may_ask
        self.used: dict[str, tuple[str, ...]] = {}


class NotAnsweredError(Exception):
    """Something would have to be asked, where nothing may be."""


class AnsweredError(Exception):
    """What would be asked is known already; nothing more is wanted."""


_keeper: ContextVar[_Keeper | None] = ContextVar("answers", default=None)


def ask(reader: str, sent: bytes, read: Callable[[], Sequence[str]]) -> list[str]:
    """Return the texts that a service reads of ``sent``: known ones, or what ``read`` returns.

    ``reader`` names the service, its model, and the version of how it is asked.
    """
    keeper = _keeper.get()
    if keeper is None:
        return list(read())
    key = fingerprint(reader, sha256(sent))
    if not keeper.may_ask:
        raise AnsweredError if key in keeper.known else NotAnsweredError
    texts = keeper.known.get(key)
    keeper.used[key] = tuple(read()) if texts is None else texts
    return list(keeper.used[key])


@contextmanager
def keeping(known: Answers) -> Iterator[Answers]:
    """Ask for nothing that is ``known``, inside the block; yields all answers that were used in it."""
    keeper = _Keeper(known, may_ask=True)
    token = _keeper.set(keeper)
    try:
        yield keeper.used
    finally:
        _keeper.reset(token)


def is_answered(known: Answers, convert: Callable[[], object]) -> bool:
    """Whether ``convert`` would ask for nothing but what is ``known``; it is left as soon as it asks."""
    token = _keeper.set(_Keeper(known, may_ask=False))
    try:
        convert()
    except NotAnsweredError:
        return False
    except AnsweredError:
        return True
    finally:
        _keeper.reset(token)
    return True
