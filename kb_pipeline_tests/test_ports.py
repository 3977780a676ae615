"""Ports that tests give to servers."""

import socket
import subprocess
import sys

from kb_pipeline_tests import ports


def test_no_port_is_given_twice(monkeypatch) -> None:
    first = ports.free_port()
    monkeypatch.setattr(ports, "_PORTS", range(first, first + 50))
    assert ports.free_port() != first
    told = f"from kb_pipeline_tests import ports; ports._PORTS = range({first}, {first + 50}); print(ports.free_port())"
    elsewhere = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert int(elsewhere.stdout) != first


def test_a_port_on_which_something_listens_is_not_given(monkeypatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setattr(ports, "_PORTS", range(port, port + 50))
        assert ports.free_port() != port
