"""The reader of the page and the client that calls the service for them."""

from collections.abc import Mapping
from functools import cache

import streamlit as st

from app.callers.principal import EASY_AUTH_HEADERS
from app.client import Agent, AgentClient, Client
from app.client.service_token import ServiceToken, service_token
from app.settings import AppSettings, load_app_settings

Who = tuple[tuple[str, str], ...]
"""The identity headers of a reader; empty if everybody is the local user."""


@cache
def page_settings() -> AppSettings:
    """The settings, cached."""
    return load_app_settings()


def who_asks(headers: Mapping[str, str]) -> Who:
    """The identity headers that Easy Auth added to a request; the service gets these and no others."""
    if not page_settings().easy_auth:
        return ()
    lowered = {name.lower(): value for name, value in headers.items()}
    return tuple((name, lowered[name]) for name in EASY_AUTH_HEADERS if name in lowered)


@st.cache_resource(max_entries=200, show_spinner=False)
def client_of(url: str, who: Who) -> Client:
    """The client of one reader, shared by all their tabs."""
    settings = page_settings()
    if not settings.agent_endpoint:
        return Client(url, headers=dict(who), token=token_for(url))
    endpoint, scope = settings.agent_endpoint.rstrip("/"), settings.agent_token_scope
    agent = Agent(endpoint, "v1" if settings.is_agent_on_azure else "")
    agent_token = service_token(endpoint, scope, of_agent=True) if scope else None
    return AgentClient(agent, url, headers=dict(who), token=token_for(url), agent_token=agent_token)


def token_for(url: str) -> ServiceToken | None:
    """The token that the page itself sends to the service, where the service asks for one."""
    scope = page_settings().app_scope
    return service_token(url, scope) if scope else None


def asker() -> Who:
    """The reader of the page."""
    return who_asks(st.context.headers)


def client() -> Client:
    """The client of the reader of the page."""
    return client_of(page_settings().service_url, asker())
