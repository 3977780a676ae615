"""Recognises a mistyped article id: what was probably meant stands in the error."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from kb_pipeline.errors import SettingsError
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.state import known_articles


def did_you_mean(mistyped: Iterable[str], known: Sequence[str]) -> str:
    """The end of an error about ids that are not known: "; did you mean canned-responses?"; empty if none is near."""
    by_folded = {article_id.casefold(): article_id for article_id in known}
    near = [match for name in mistyped for match in get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.75)]
    return f"; did you mean {', '.join(by_folded[match] for match in dict.fromkeys(near))}?" if near else ""


def check_not_mistyped(layout: Layout, article_id: str) -> None:
    """Refuse the id of no article that is near to the id of one.

    Raises:
        SettingsError: the message names the article that was probably meant.
    """
    article_ids = known_articles(layout)
    if article_id not in article_ids and (hint := did_you_mean([article_id], article_ids)):
        raise SettingsError(f"there is no article {article_id!r}{hint}")
