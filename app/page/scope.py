"""The choice of where the next questions are searched: everywhere, or in one collection of documents.

It is in the address of the page, so that a link keeps it; without one, a conversation goes on as its last question did.
"""

from collections.abc import Mapping
from datetime import timedelta

import streamlit as st

from app.client import ClientError
from app.page import asking, places, session
from app.schema.asking import Collection
from app.schema.conversations import Turn
from kb_pipeline.asking import Scope
from kb_pipeline.wording import counted

_EVERYTHING = ""
_FRESH = timedelta(seconds=30)
"""Asked once for all reruns of half a minute: a click makes several."""


def choose(conversation_id: str | None, last: Turn | None) -> Scope | None:
    """Show the choice, if there is one; the scope of the next question."""
    collections = {f"{each.kind}:{each.name}": each for each in _collections(session.asker())}
    if not collections:
        return None
    key = _key(conversation_id)
    current = st.query_params.get(places.SCOPE) or _token(last)
    chosen = st.bottom.selectbox(
        "Search in",
        [_EVERYTHING, *collections],
        index=[_EVERYTHING, *collections].index(current) if current in collections else 0,
        format_func=lambda token: _in_words(collections, token),
        key=key,
        label_visibility="collapsed",
        width=320,
    )
    if chosen != st.query_params.get(places.SCOPE, _token(last)):
        _remember(chosen)
    return collections[chosen].scope if chosen else None


def offer_everywhere(turn: Turn, conversation_id: str | None) -> None:
    """Offer to ask again without the scope, if that has no answer."""
    if turn.answer and turn.answer.scope and turn.answer.refused:
        icon, clicked = ":material/search:", (turn, conversation_id)
        st.button("Ask everywhere", icon=icon, key="ask-everywhere", on_click=_ask_everywhere, args=clicked)


def _ask_everywhere(turn: Turn, conversation_id: str | None) -> None:
    st.session_state[_key(conversation_id)] = _EVERYTHING
    _remember(_EVERYTHING)
    asking.ask_again(turn, scope=None)


def _remember(token: str) -> None:
    st.query_params[places.SCOPE] = token or places.EVERYWHERE


def _key(conversation_id: str | None) -> str:
    return f"scope-{conversation_id or 'new'}"


def _token(last: Turn | None) -> str:
    """The option that the last question was asked with."""
    scope = last.answer.scope if last and last.answer else None
    values = [(kind, name) for kind, names in (scope or Scope()).model_dump().items() for name in names]
    return ":".join(values[0]) if len(values) == 1 else _EVERYTHING


def _in_words(known: Mapping[str, Collection], token: str) -> str:
    if not token:
        return "Search in: everything"
    each = known[token]
    return f"Search in: {each.kind} {each.name} ({counted(each.documents, 'document')})"


@st.cache_resource(ttl=_FRESH, max_entries=200, show_spinner=False)
def _collections(who: session.Who) -> tuple[Collection, ...]:
    # ``who`` is not read here, but each reader needs a cache entry of their own.
    try:
        return session.client().collections().collections
    except ClientError as exc:
        if exc.status is None or exc.status == 503:  # no index yet: the page says so by itself
            return ()
        raise
