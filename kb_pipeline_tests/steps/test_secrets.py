"""What looks like a secret is not told; what does not, is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.steps.secrets import HIDDEN, without_credentials, without_secrets


@given(st.text(alphabet="abcABC019+/=_-.", min_size=24, max_size=120))
def test_what_is_called_a_key_is_never_told(key: str) -> None:
    for name in ("AccountKey=", "api-key: ", '"api_key": "', '\\"api-key\\":\\"', "refresh_token=", "sig="):
        assert key not in without_secrets(f"refused {name}{key}")


def test_hostile_text_is_read_in_linear_time() -> None:
    words = "eyJ-" * 50_000  # each might begin a token: a minute and a half, if each were followed to the end
    begun = time.process_time()
    assert without_secrets(words) == words
    assert time.process_time() - begun < 5


@pytest.mark.parametrize(
    "words",
    [
        "The basic authentication scheme is not supported; send a bearer token.",
        "Access denied due to invalid subscription key or wrong API endpoint.",
        "the document key 'a b' is invalid: keys can only contain letters",
        "request 3f2504e0-4f89-11d3-9a0c-0305e82c3301 at 2026-11-22T08:00:00Z",
    ],
)
def test_words_without_a_secret_stay(words: str) -> None:
    assert without_secrets(words) == words


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pass@host/path?sig=abc#x", "https://user@host/path"),
        ("abfs://container@account.dfs.core.windows.net/kb", "abfs://container@account.dfs.core.windows.net/kb"),
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1"),
        ("no address at all", "no address at all"),
        ("http://me:pass@[1", HIDDEN),
    ],
)
def test_an_address_is_shown_without_what_signs_in(url: str, shown: str) -> None:
    assert without_credentials(url) == shown
