"""A private Dovecot for tests: an IMAP server with the mail of one person, by TLS on a free loopback port.

It takes a password, or a token (XOAUTH2) that it checks itself: a JWT, signed with a key of its own.
"""

import base64
import hashlib
import hmac
import imaplib
import json
import os
import pwd
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from kb_pipeline_tests.certificates import new_certificate
from kb_pipeline_tests.ports import free_port

USER, PASSWORD = "ann", "anns-own-password"
_PROGRAM = "/usr/sbin/dovecot"
_SECONDS = 30
_SETTINGS = """
base_dir = {run}
state_dir = {run}
log_path = {folder}/log
protocols = imap
listen = 127.0.0.1
ssl = required
ssl_cert = <{certificate}
ssl_key = <{key}
mail_location = maildir:{folder}/mail
service imap-login {{
  inet_listener imap {{
    port = 0
  }}
  inet_listener imaps {{
    port = {port}
    ssl = yes
  }}
  chroot =
}}
auth_mechanisms = plain xoauth2
passdb {{
  driver = static
  args = password={password}
  mechanisms = plain
}}
passdb {{
  driver = oauth2
  args = {folder}/oauth2
  mechanisms = xoauth2
}}
userdb {{
  driver = static
  args = uid={uid} gid={gid} home={folder}
}}
{more}
"""
_TOKENS = """
introspection_mode = local
local_validation_key_dict = fs:posix:prefix={folder}/keys/
username_attribute = sub
"""
_KEY = b"a key that only the server and its issuer of tokens have"
_AS_ONESELF = """
default_internal_user = {name}
default_login_user = {name}
service anvil {{
  chroot =
}}
first_valid_uid = 0
"""


def token_of(user: str, lifetime: float = 3600) -> str:
    """A token that says who has it, as an issuer signs it whom the server trusts."""
    now = int(time.time())
    claims = {"sub": user, "iat": now - 60, "nbf": now - 60, "exp": int(now + lifetime)}
    signed = ".".join(_encoded(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims))
    return f"{signed}.{_encoded(hmac.digest(_KEY, signed.encode(), hashlib.sha256))}"


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def installed() -> bool:
    """Whether Dovecot is there."""
    return shutil.which(_PROGRAM) is not None and Path("/usr/lib/dovecot/imap").exists()


class Dovecot:
    """A running Dovecot, whose mail is changed as a mail program does."""

    def __init__(self, port: int, certificate: Path) -> None:
        self.address, self.certificate = f"localhost:{port}", certificate
        context = ssl.create_default_context(cafile=str(certificate))
        self.client = imaplib.IMAP4_SSL("localhost", port, ssl_context=context, timeout=_SECONDS)
        self.client.login(USER, PASSWORD)

    def close(self) -> None:
        self.client.shutdown()

    def put(self, message: bytes, folder: str = "INBOX") -> None:
        self._done(self.client.append(folder, "", "", message))  # type: ignore[arg-type]

    def remove(self, message_id: str, folder: str = "INBOX") -> None:
        """Delete the messages with this id, if there are any."""
        self._done(self.client.select(folder))
        found = self._done(self.client.uid("SEARCH", "HEADER", "Message-ID", f'"{message_id}"'))[0].split()
        for number in found:
            self._done(self.client.uid("STORE", number.decode(), "+FLAGS", r"(\Deleted)"))
        self._done(self.client.expunge())
        self._done(self.client.unselect())

    def make(self, folder: str) -> None:
        self._done(self.client.create(folder))

    def remake(self, folder: str) -> None:
        """Delete a folder and make it again: it counts its messages anew."""
        self._done(self.client.delete(folder))
        self.make(folder)

    @staticmethod
    def _done(answer: tuple[str, list]) -> list:  # type: ignore[type-arg]
        assert answer[0] == "OK", answer
        return answer[1]


@contextmanager
def running_dovecot() -> Iterator[Dovecot]:
    """Run a server with an empty mailbox, and throw all away."""
    # its processes change to another user, who could not enter the folders of pytest; paths of sockets are short
    folder = Path(tempfile.mkdtemp(dir="/tmp", prefix="kb-dovecot-"))
    try:
        certificate, key = new_certificate(folder, "localhost")
        is_root = os.getuid() == 0
        own = pwd.getpwnam("nobody") if is_root else pwd.getpwuid(os.getuid())
        folder.chmod(0o755)
        (folder / "mail").mkdir()
        os.chown(folder / "mail", own.pw_uid, own.pw_gid)
        port = free_port()
        more = "" if is_root else _AS_ONESELF.format(name=own.pw_name)
        written = _SETTINGS.format(
            folder=folder, run=folder / "run", certificate=certificate, key=key, port=port, password=PASSWORD,
            uid=own.pw_uid, gid=own.pw_gid, more=more,
        )  # fmt: skip
        (folder / "settings").write_text(written)
        (folder / "oauth2").write_text(_TOKENS.format(folder=folder))
        (folder / "keys" / "default" / "HS256").mkdir(parents=True)
        (folder / "keys" / "default" / "HS256" / "default").write_bytes(base64.b64encode(_KEY))
        server = subprocess.Popen([_PROGRAM, "-F", "-c", str(folder / "settings")], start_new_session=True)
        try:
            with closing(_connected(server, port, certificate)) as dovecot:
                yield dovecot
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(_SECONDS)
    finally:
        shutil.rmtree(folder)


def _connected(server: "subprocess.Popen[bytes]", port: int, certificate: Path) -> Dovecot:
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            return Dovecot(port, certificate)
        except ConnectionRefusedError:
            assert server.poll() is None and time.monotonic() < deadline, "Dovecot did not start"
            time.sleep(0.05)
