"""Numbers with their nouns, wherever people read them: terminal, logs, Dagster UI, answers and page."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: ``1 image``, ``1,200 images``; the plural is named where it is not ``one`` with an s.

    ``counted(1, "article fails", "articles fail")`` is ``1 article fails``.
    """
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"
