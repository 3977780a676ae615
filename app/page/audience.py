"""For whom a part of the page is: readers, authors, those who answer for what readers get, or who runs the service.

It only spares people what is not for them. What somebody may see or do is decided by the service, at each request.
"""

from collections.abc import Callable
from datetime import timedelta

import streamlit as st

from app.client import ClientError
from app.page import session
from app.schema.permissions import Permissions

Audience = Callable[[Permissions], bool]

_FRESH = timedelta(seconds=30)
"""Asked once for all reruns of half a minute: a click makes several."""


def everybody(_: Permissions) -> bool:
    """Every reader."""
    return True


def nobody(_: Permissions) -> bool:
    """Nobody: only links lead there."""
    return False


def authors(may: Permissions) -> bool:
    """Who is named for the articles, as a reviewer or to hand in files; and who runs the service."""
    return may.may_review or may.may_upload or may.is_operator


def answerable(may: Permissions) -> bool:
    """Who answers for what readers get: reviewers, and who runs the service."""
    return may.may_review or may.is_operator


def engineers(may: Permissions) -> bool:
    """Who runs the service."""
    return may.is_operator


def permissions() -> Permissions:
    """What the reader of the page may do; nothing special while the service does not answer, which the page says."""
    try:
        return _permissions(session.asker())
    except ClientError:
        return Permissions()


@st.cache_resource(ttl=_FRESH, max_entries=200, show_spinner=False)
def _permissions(who: session.Who) -> Permissions:
    # ``who`` is not read here, but each reader needs a cache entry of their own.
    return session.client().permissions()
