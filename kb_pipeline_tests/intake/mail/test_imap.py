"""Mail of a server: each message is fetched once, nothing there is changed, and what is gone there goes here."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from kb_pipeline.errors import IntakeError, ServiceRefusedError, TransientError
from kb_pipeline.intake.mail.imap import ImapServer, copy_folders
from kb_pipeline.intake.mail.source import MailboxSource, MailOptions
from kb_pipeline.intake.running import Taken, forget, run
from kb_pipeline.settings import Settings
from kb_pipeline_tests.dovecot import PASSWORD, USER, Dovecot, installed, running_dovecot, token_of
from kb_pipeline_tests.intake.mail.test_source import ANSWER, QUESTION, message
from kb_pipeline_tests.managed_identity import signed_in
from kb_pipeline_tests.ports import free_port

needs_dovecot = [
    pytest.mark.skipif(not installed(), reason="there is no Dovecot; scripts/dovecot.sh gets it"),
    pytest.mark.slow("asks a server"),
]


class ListedServer(ImapServer):
    """Answers without a server. Each folder is the number of its state and its messages."""

    def __init__(self, **folders: tuple[int, Mapping[int, bytes]]) -> None:
        self.there, self.asked = folders, list[int]()
        self._open: Mapping[int, bytes] = {}

    def folders(self) -> Mapping[str, bytes]:
        return {name: name.encode() for name in self.there}

    def open(self, raw: bytes) -> tuple[int, dict[int, int]]:
        validity, self._open = self.there[raw.decode()]
        return validity, {number: len(data) for number, data in self._open.items()}

    def fetch(self, numbers: Iterable[int]) -> Iterator[tuple[int, bytes]]:
        for number in numbers:
            self.asked.append(number)
            if self._open[number]:  # else it is gone meanwhile
                yield number, self._open[number]


def copied(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.eml")}


def test_each_message_is_fetched_once_until_the_server_counts_anew(tmp_path: Path) -> None:
    server = ListedServer(INBOX=(7, {1: b"one", 2: b"two", 5: b""}))
    assert copy_folders(server, ["inbox"], tmp_path, 100) == {}
    assert copied(tmp_path) == {"INBOX/7-1.eml": b"one", "INBOX/7-2.eml": b"two"}
    server.there, server.asked = {"INBOX": (7, {2: b"two", 3: b"three"})}, []
    copy_folders(server, ["INBOX"], tmp_path, 100)
    assert (copied(tmp_path).keys(), server.asked) == ({"INBOX/7-2.eml", "INBOX/7-3.eml"}, [3])
    server.there, server.asked = {"INBOX": (8, {2: b"other"})}, []
    copy_folders(server, ["INBOX"], tmp_path, 100)
    assert (copied(tmp_path), server.asked) == ({"INBOX/8-2.eml": b"other"}, [2])


def test_the_names_of_folders_lead_nowhere_else(tmp_path: Path) -> None:
    names = ["../../out", "/etc/x", "a/./b", "a//b", "..", "Entwürfe & mehr", "a%2F", "nul\0", "~", "A.B"]
    server = ListedServer(**{name: (1, {1: name.encode()}) for name in names})
    copy_folders(server, ["*"], tmp_path / "copy", 100)
    assert sorted(copied(tmp_path / "copy").values()) == sorted(name.encode() for name in names)
    assert [path.name for path in tmp_path.iterdir()] == ["copy"]


def test_a_message_that_is_too_large_is_named_and_never_asked_for(tmp_path: Path) -> None:
    server = ListedServer(INBOX=(1, {1: b"x" * 101, 2: b"y"}))
    refused = copy_folders(server, ["INBOX"], tmp_path, 100)
    assert refused == {"INBOX/1": "message 1 in INBOX has 101 bytes, at most 100 are read; raise KB_DOCUMENT_BYTES"}
    assert server.asked == [2]


def test_a_folder_that_is_not_there_changes_nothing(tmp_path: Path) -> None:
    copy_folders(ListedServer(INBOX=(1, {1: b"one"})), ["INBOX"], tmp_path, 100)
    with pytest.raises(IntakeError, match="there is no folder Sent on the server; there are: INBOX, Trash"):
        copy_folders(ListedServer(INBOX=(1, {}), Trash=(1, {})), ["INBOX", "Sent"], tmp_path, 100)
    assert copied(tmp_path).keys() == {"INBOX/1-1.eml"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "one of them is needed"),
        ({"path": "mail", "server": "imap.example.org", "user": "ann"}, "one of them is needed"),
        ({"server": "imap.example.org"}, "a server needs a user"),
        ({"path": "mail", "sign_in": "token"}, "only a server is signed in to"),
        ({"server": "imap.example.org:99999", "user": "ann"}, "not the name of a server"),
        ({"server": "imaps://imap.example.org", "user": "ann"}, "not the name of a server"),
    ],
)
def test_what_is_declared_names_one_place(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        MailOptions.model_validate(options)


def test_without_its_password_a_server_is_not_asked(settings: Settings) -> None:
    with pytest.raises(IntakeError, match="no password of ann is set: KB_INTAKE_PASSWORDS"):
        MailboxSource("mail", MailOptions(server="imap.example.org", user="ann"), settings)


def test_a_server_that_cannot_be_reached_is_tried_again_later(settings: Settings) -> None:
    with pytest.raises(TransientError, match=r"localhost:\d+ cannot be reached"):
        take_in(settings, f"localhost:{free_port()}")


def test_without_an_identity_no_token_is_had(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        signed_in(monkeypatch) as identity,
        pytest.raises(ServiceRefusedError, match=r"no token for the mail of .*AZURE_"),
    ):
        identity.status = 400
        take_in(settings, f"localhost:{free_port()}", sign_in="azure")


def take_in(settings: Settings, server: str, password: str = PASSWORD, **options: object) -> Taken:
    given = settings.model_copy(update={"intake_passwords": SecretStr(f'{{"mail": "{password}"}}')})
    told = MailOptions.model_validate({"server": server, "user": USER, "readers": ["support"], **options})
    return run(MailboxSource("mail", told, given), given)


@pytest.fixture(scope="module")
def running() -> Iterator[Dovecot]:
    with running_dovecot() as server:
        yield server


@pytest.fixture
def server(running: Dovecot, monkeypatch: pytest.MonkeyPatch) -> Dovecot:
    monkeypatch.setenv("SSL_CERT_FILE", str(running.certificate))
    return running


class TestOnDovecot:
    pytestmark = needs_dovecot

    def test_a_thread_over_two_folders_becomes_an_article_and_follows_the_server(
        self, server: Dovecot, settings: Settings, staging: Path
    ) -> None:
        folder = '"Entw&APw-rfe.A &- B"'
        server.make(folder)
        server.put(message(1, QUESTION).as_bytes())
        server.put(message(2, ANSWER, answers=1).as_bytes(), folder)
        server.put(message(3, "Another subject, with words of its own.", subject="Pump").as_bytes())
        told = ["INBOX", "entwürfe/*"]
        taken = take_in(settings, server.address, folders=told)
        assert (sorted(taken.new), taken.refused) == (["mail-main-valve", "mail-pump"], {})
        text = (staging / "mail-main-valve" / "index.html").read_text()
        assert text.index(QUESTION) < text.index(ANSWER)
        assert take_in(settings, server.address, folders=told).unchanged == 2
        server.client.select("INBOX", readonly=True)
        assert b"\\Seen" not in server.client.uid("FETCH", "1:*", "(FLAGS)")[1][0]
        server.client.unselect()
        server.remake(folder)
        server.put(message(2, ANSWER, answers=1).as_bytes(), folder)
        assert take_in(settings, server.address, folders=told).unchanged == 2
        server.remove("<m3@example.org>")
        assert take_in(settings, server.address, folders=told).gone == ["mail-pump"]
        forget("mail", settings)
        assert [path.name for path in (settings.home_path / "intake").iterdir()] == []

    def test_a_wrong_password_is_refused_and_not_repeated(self, server: Dovecot, settings: Settings) -> None:
        with pytest.raises(IntakeError, match=r"localhost:\d+ refuses: .*Authentication failed") as refused:
            take_in(settings, server.address, password="not-the-password")
        assert "not-the-password" not in str(refused.value)

    @pytest.mark.rare("asks a server for each way to sign in")
    def test_a_token_signs_in_as_a_password_does(self, server: Dovecot, settings: Settings, staging: Path) -> None:
        server.put(message(4, QUESTION, subject="Token").as_bytes())
        taken = take_in(settings, server.address, password=token_of(USER), sign_in="token")
        assert "mail-token" in taken.new
        for token in (token_of(USER, lifetime=-100), token_of(USER)[:-4], token_of("bob"), PASSWORD):
            with pytest.raises(IntakeError, match=r"localhost:\d+ refuses: .*Authentication failed") as refused:
                take_in(settings, server.address, password=token, sign_in="token")
            assert token not in str(refused.value)

    @pytest.mark.rare("asks a server and an issuer of tokens")
    def test_on_azure_each_run_signs_in_with_a_token_for_the_server(
        self, server: Dovecot, settings: Settings, staging: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        server.put(message(5, QUESTION, subject="Azure").as_bytes())
        with signed_in(monkeypatch) as identity:
            identity.issue = lambda: token_of(USER)
            assert "mail-azure" in take_in(settings, server.address, password="", sign_in="azure").new
            assert identity.audiences == ["https://localhost"]

    def test_a_certificate_that_nobody_vouches_for_is_refused(self, running: Dovecot, settings: Settings) -> None:
        with pytest.raises(IntakeError, match="has no certificate that is trusted"):
            take_in(settings, running.address)
