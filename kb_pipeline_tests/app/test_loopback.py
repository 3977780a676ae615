"""By which names a server on this machine may be called."""

import pytest

from app.loopback import names_on_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.0.0.2"])
def test_on_loopback_only_by_names_of_this_machine(host: str) -> None:
    names = names_on_loopback(host)
    assert names and {"127.0.0.1", "localhost", "[::1]", host} == set(names)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "kb.example.com"])
def test_elsewhere_what_stands_in_front_decides(host: str) -> None:
    assert names_on_loopback(host) is None
