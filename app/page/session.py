"""Who looks at the page, and the client that asks the service for them."""

from collections.abc import Mapping
from functools import cache

import streamlit as st

from app.client import Client
from app.principal import EASY_AUTH_HEADERS
from app.settings import AppSettings, load_app_settings

Who = tuple[tuple[str, str], ...]
"""The headers that say who asks; none where everybody is the local user."""


@cache
def page_settings() -> AppSettings:
    """The settings, read once."""
    return load_app_settings()


def who_asks(headers: Mapping[str, str]) -> Who:
    """What Easy Auth said of a request to the page: all that the service is told of it."""
    if not page_settings().easy_auth:
        return ()
    lowered = {name.lower(): value for name, value in headers.items()}
    return tuple((name, lowered[name]) for name in EASY_AUTH_HEADERS if name in lowered)


@st.cache_resource(max_entries=200, show_spinner=False)
def client_of(url: str, who: Who) -> Client:
    """The client of one person, shared by all their tabs."""
    return Client(url, headers=dict(who))


def asker() -> Who:
    """Who looks at the page."""
    return who_asks(st.context.headers)


def client() -> Client:
    """The client of whoever looks at the page."""
    return client_of(page_settings().service_url, asker())
