"""What looks like a secret is not told; what does not, is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.secrets import HIDDEN, credentials_in, without_credentials, without_secrets, without_sign_in


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
        ("me:pass@host/path", HIDDEN),
        ("http://me:pa/ss@host/path", "http://me@host/path"),
        ("http://me:p@ss@host/path", "http://me@host/path"),
    ],
)
def test_an_address_is_shown_without_what_signs_in(url: str, shown: str) -> None:
    assert without_sign_in(url) == shown


@pytest.mark.parametrize(
    "said",
    [
        "GET http://me:hidden-secret@host/x failed",
        "GET http://me%40work:hidden-secret@host/x failed",
        "GET http://:hidden-secret@host failed",
        "GET abfs://c@me:hidden-secret@host failed",
        "GET http://me:hidden-secret/with#all?of=it@host/x failed",
        "GET http%3A%2F%2Fme%3Ahidden-secret%40host failed",
        "no such place: postgresql+psycopg2://kb:hidden-secret@db:5432/kb?sslmode=require",
        "Max retries exceeded with url: /c?sv=2026&sig=hidden-secret (Caused by",
        "a link to /x%3Fsv%3D2026%26sig%3Dhidden-secret",
    ],
)
def test_a_credential_in_an_address_is_not_told(said: str) -> None:
    assert "hidden-secret" not in without_credentials(said)
    assert without_credentials(said).split()[0] == said.split(maxsplit=1)[0]


def test_addresses_without_credentials_are_told_whole() -> None:
    said = "http://[::1]:8080/v1, abfs://c@account.dfs.core.windows.net/kb and https://host:443/a: write to me@host"
    assert without_credentials(said) == said


@pytest.mark.parametrize(
    "address",
    [
        "http://me:pass@host",
        "https://token@host/v1",
        "me:pass@host",
        "http://me%3Apass@host",
        "http://me:pa/ss@host",
        "abfs://c:pass@account.dfs.core.windows.net/kb",
        "abfs://c@account.dfs.core.windows.net/kb?sv=2026&sig=abcdefgh",
        "az://c/kb%3Fsig%3Dabcdefgh",
        "az://c/kb%253Fsig%253Dabcdefgh",
        "c@account.dfs.core.windows.net/kb?sig=abcdefgh",
        "ftp://me:pass@host/kb",
        "https://host/v1?api-version=1&code=x",
        "https://host/v1#x",
    ],
)
def test_what_signs_in_with_an_address_is_noticed(address: str) -> None:
    assert credentials_in(address)


@pytest.mark.parametrize(
    "address",
    [
        "samples/staging",
        "/srv/kb#1/a:b@c?",
        "abfs://staging@account.dfs.core.windows.net/kb",
        "container@account/kb",
        "sftp://me@host/kb",
        "s3+ddb://bucket/kb?ddbTableName=locks",
        "https://kb.openai.azure.com/openai/v1?api-version=2025-01-01-preview",
        "http://[::1]:8080/v1",
        "ray://head:10001",
        "head:6379",
        "",
    ],
)
def test_an_address_that_holds_no_credentials_is_one(address: str) -> None:
    assert credentials_in(address) == ""
