"""A real service for the page to ask, and pages that run without a browser."""

import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

import app.page
from app.client import Client
from app.page import session
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.page.serving import Place

MAIN = Path(app.page.__file__).with_name("main.py")

Open = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def _main_stays_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """Streamlit makes the page's script ``__main__``, which a process spawned by a later test would then run."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(autouse=True)
def _errors_are_told() -> Iterator[None]:
    """A page that this process served before hides them from readers."""
    option = "client.showErrorDetails"
    before = st.get_option(option)
    st.set_option(option, "full")
    yield
    st.set_option(option, before)


@pytest.fixture(scope="session", autouse=True)
def _packages_looked_through_once() -> Iterator[None]:
    """Before each run of a page Streamlit's tests read about all installed packages, as its server does once.

    They look for components, of which there are none; it takes longer than the page.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(manifest_scanner, "scan_component_manifests", cache(manifest_scanner.scan_component_manifests))
        yield


@pytest.fixture(scope="session")
def _service(knowledge_base: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with Place(knowledge_base, tmp_path_factory.mktemp("place")).service() as url:
        yield url


@pytest.fixture
def service(_service: str, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The service that the page asks, without any conversation; a client of it."""
    client = ask_at(_service, monkeypatch)
    while page := client.conversations().conversations:
        for summary in page:
            client.delete(summary.id)
    return client


def ask_at(url: str, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Let the page ask the service at an address."""
    monkeypatch.setenv("KB_APP_URL", url)
    session.page_settings.cache_clear()
    return Client(url)


@pytest.fixture
def open_page() -> Open:
    """Open the page, at an address: ``open_page(conversation="conv_1")``."""

    def opened(**query: str) -> AppTest:
        page = AppTest.from_file(MAIN, default_timeout=30)
        for name, value in query.items():
            page.query_params[name] = value
        return page.run()

    return opened


def html(page: AppTest) -> str:
    """All HTML of ours that the page shows."""
    return "\n".join(element.proto.body for element in page.get("html"))
