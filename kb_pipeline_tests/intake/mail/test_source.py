"""A folder of mail: one article for each thread, quotations once, attached documents beside it, and hidden from all."""

import json
import mailbox
import re
from email.message import EmailMessage
from pathlib import Path

import pytest

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.mail.source import MailboxSource, MailOptions
from kb_pipeline.intake.running import Taken, run
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE

QUESTION = "How many bars does the gauge of the main valve have to show before we may open the second one?"
ANSWER = "It has to show exactly three bars, and nobody may stand beside the pipe while it fills."
BOB = "Bob Lee <bob@example.org>"
PICTURE = bytes.fromhex("89504e470d0a1a0a") + b"a picture"


def message(number: int, text: str, *, answers: int = 0, subject: str = "Main valve", **heads: str) -> EmailMessage:
    made = EmailMessage()
    made["Message-ID"] = f"<m{number}@example.org>"
    made["Date"] = f"Mon, 06 May 2024 10:{number:02}:00 +0000"
    made["From"] = heads.pop("From", f"Ann Smith <ann{number}@example.org>")
    made["To"] = "bob@example.org"
    made["Subject"] = f"Re: {subject}" if answers else subject
    if answers:
        made["In-Reply-To"] = f"<m{answers}@example.org>"
        made["References"] = f"<m1@example.org> <m{answers}@example.org>"
    for name, value in heads.items():
        del made[name]
        made[name] = value
    made.set_content(text)
    return made


def quoted(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mail").mkdir()
    return tmp_path / "mail"


def rich(made: EmailMessage) -> EmailMessage:
    """The part of a message that is HTML."""
    part = made.get_body(("html",))
    assert isinstance(part, EmailMessage)
    return part


def put(folder: Path, name: str, made: EmailMessage) -> None:
    (folder / f"{name}.eml").write_bytes(made.as_bytes())


def take_in(folder: Path, settings: Settings, **options: object) -> Taken:
    source = MailboxSource("mail", MailOptions.model_validate({"path": folder, **options}), settings)
    return run(source, settings)


def page_of(staging: Path, article: str = "mail-main-valve") -> str:
    return (staging / article / "index.html").read_text()


def test_a_thread_becomes_one_article_in_the_order_of_its_messages(
    folder: Path, settings: Settings, staging: Path
) -> None:
    put(folder, "z", message(1, QUESTION))
    put(folder, "a", message(2, f"{ANSWER}\n\nOn 6 May 2024 Ann wrote:\n{quoted(QUESTION)}", answers=1, From=BOB))
    put(folder, "b", message(3, "Another subject altogether, with words of its own.", subject="Pump"))
    taken = take_in(folder, settings)
    assert (sorted(taken.new), taken.hidden, taken.refused) == (["mail-main-valve", "mail-pump"], 2, {})
    page = page_of(staging)
    assert page.index(QUESTION) < page.index(ANSWER)
    assert page.count(QUESTION) == 1
    assert "wrote:" not in page
    assert f"<h2>{QUESTION} (Ann Smith, 2024-05-06 10:01 UTC)</h2>" in page
    assert "<h3>Bob Lee, 2024-05-06 10:02 UTC</h3>" in page
    facts = json.loads((staging / "mail-main-valve" / "metadata.json").read_text())
    assert facts == {"title": "Main valve", "author": "Ann Smith", "upload_date": "2024-05-06T10:02:00+00:00",
                     "access_control_list": [HIDDEN]}  # fmt: skip


def test_readers_are_those_that_the_declaration_names(folder: Path, settings: Settings, staging: Path) -> None:
    put(folder, "a", message(1, QUESTION))
    assert take_in(folder, settings, readers=["support"]).hidden == 0
    facts = json.loads((staging / "mail-main-valve" / "metadata.json").read_text())
    assert facts["access_control_list"] == ["support"]


REPLIES = {
    "below": f"{ANSWER}\n\n> {QUESTION}\n",
    "above": f"Am 6. Mai 2024 schrieb Ann Smith:\n{quoted(QUESTION)}\n{ANSWER}\n",
    "wrapped": f"{ANSWER}\n\nLe lun. 6 mai 2024, Ann a écrit :\n"
    + quoted(QUESTION.replace(" main", "\nmain").replace(" before", "\nbefore")),
    "twice quoted": f"{ANSWER}\n\n{quoted(quoted(QUESTION))}",
    "a head in German": f"{ANSWER}\n\n-----Ursprüngliche Nachricht-----\nVon: Ann\nGesendet: Montag\n\n{QUESTION}",
    "a head in Japanese": f"{ANSWER}\n\n________________________________\n差出人: Ann\n送信日時: 2024\n\n{QUESTION}\n",
    "with a greeting": f"{ANSWER}\n\nVon: Ann Smith\nGesendet: Montag\n\nHi Bob,\n\n{QUESTION}\n\nAnn",
    "no mark at all": f"{ANSWER}\n\n{QUESTION}\n",
}
RICH = {
    "gmail": f'<div dir="ltr">{ANSWER}</div><br><div class="gmail_quote"><div>On Mon, 6 May, Ann wrote:<br>'
    f'</div><blockquote class="gmail_quote"><div dir="ltr">{QUESTION}</div></blockquote></div>',
    "outlook": f"<div><p>{ANSWER}</p><div><p><b>Von:</b> Ann<br><b>Gesendet:</b> Montag<br><b>An:</b> Bob</p></div>"
    f"<p>{QUESTION}</p></div>",
    "lines": f"<html><body>{ANSWER}<br><br>Ann schrieb am 6.5.:<br>{QUESTION}</body></html>",
    "apple": f'<body>{ANSWER}<br><blockquote type="cite">On 6 May, Ann wrote:<br><br>{QUESTION}</blockquote></body>',
    "in a font": f"<body><font>{ANSWER}<br><br>{QUESTION}</font></body>",
    "in a paragraph": f"<p>{ANSWER}<br><br>{QUESTION}</p>",
}


@pytest.mark.parametrize("reply", REPLIES)
def test_what_is_quoted_of_the_thread_is_there_once(
    folder: Path, settings: Settings, staging: Path, reply: str
) -> None:
    put(folder, "a", message(1, f"Hi Bob,\n\n{QUESTION}\n\nAnn"))
    put(folder, "b", message(2, REPLIES[reply], answers=1))
    take_in(folder, settings)
    said = " ".join(page_of(staging).split())
    assert "Hi Bob" not in said
    assert (said.count(QUESTION), said.count(ANSWER)) == (1, 1)
    assert not any(word in said for word in ("schrieb", "écrit", "Gesendet", "差出人", "&gt;", "Nachricht"))


@pytest.mark.parametrize("reply", RICH)
def test_the_same_in_html(folder: Path, settings: Settings, staging: Path, reply: str) -> None:
    put(folder, "a", message(1, QUESTION))
    answer = message(2, ANSWER, answers=1)
    answer.add_alternative(RICH[reply], subtype="html")
    put(folder, "b", answer)
    take_in(folder, settings)
    said = " ".join(page_of(staging).split())
    assert (said.count(QUESTION), said.count(ANSWER)) == (1, 1)
    assert not any(word in said for word in ("schrieb", "wrote", "Gesendet"))


def test_what_is_quoted_of_no_message_of_the_thread_stays(folder: Path, settings: Settings, staging: Path) -> None:
    put(folder, "b", message(2, f"{ANSWER}\n\n{quoted(QUESTION)}", answers=1))
    take_in(folder, settings)
    assert f"<blockquote> <p>{QUESTION}</p> </blockquote>" in " ".join(page_of(staging).split())


def test_an_answer_in_one_word_stays_also_if_the_question_has_it(
    folder: Path, settings: Settings, staging: Path
) -> None:
    put(folder, "a", message(1, f"Open it, yes or no?\n\n{QUESTION}"))
    put(folder, "b", message(2, f"Yes.\n\n{QUESTION}", answers=1))
    take_in(folder, settings)
    assert "<p>Yes.</p>" in page_of(staging)


@pytest.mark.parametrize("remark", ["I do not understand this:", "Mind: hot", "Ann first, then Bob", "Three words"])
def test_remarks_on_what_is_quoted_stay(folder: Path, settings: Settings, staging: Path, remark: str) -> None:
    put(folder, "a", message(1, QUESTION))
    put(folder, "b", message(2, f"{remark}\n{quoted(QUESTION)}", answers=1))
    take_in(folder, settings)
    assert f"<p>{remark}</p>" in page_of(staging)


def test_short_answers_between_quotations_stay(folder: Path, settings: Settings, staging: Path) -> None:
    put(folder, "a", message(1, f"{QUESTION}\n\n{PROSE}\n\nYes or no?"))
    put(folder, "b", message(2, f"{quoted(QUESTION)}\nYes.\n\n{quoted(PROSE)}\nThree bars.\n", answers=1))
    take_in(folder, settings)
    assert "<p>Yes.</p>" in page_of(staging)
    assert "<p>Three bars.</p>" in page_of(staging)


SIGNED = {
    "a name": "{text}\n\nCheers\nAnn\n",
    "after a closing": "{text}\n\nMit freundlichen Grüßen\n\nAnn Smith\nSupport\n\nExample Ltd\nTel. 0123 / 456\n",
    "in one line": "{text}\nGruß, Ann",
    "as programs mark it": "{text}\n-- \nThe pumps team, always there for you.\n",
    "in the lines of the text": "Hello Bob,\n{text}\nThanks\nAnn Smith",
    "in Japanese": "Bob 様、\n\n{text}\n\nよろしくお願いします\n\nAnn",
}


@pytest.mark.parametrize("form", SIGNED)
@pytest.mark.parametrize("is_html", [False, True])
def test_greetings_closings_and_signatures_are_left_out(
    folder: Path, settings: Settings, staging: Path, form: str, *, is_html: bool
) -> None:
    text = SIGNED[form].format(text=ANSWER)
    made = message(1, text)
    if is_html:
        made.set_content("<br>".join(text.splitlines()), subtype="html")
    put(folder, "a", made)
    take_in(folder, settings)
    markdown = page_of(staging).partition("</h2>")[2]
    said = " ".join(re.sub(r"<[^>]*>", " ", markdown).split())
    assert said == ANSWER


@pytest.mark.parametrize("text", [f"Bob is right.\n\n{ANSWER}", f"{ANSWER}\n\nAnn's pump\n\n{PROSE}", "Thanks\nAnn"])
def test_what_a_message_says_is_never_taken_for_its_frame(
    folder: Path, settings: Settings, staging: Path, text: str
) -> None:
    put(folder, "a", message(1, text))
    take_in(folder, settings)
    page = " ".join(page_of(staging).split())
    assert all(" ".join(part.split()) in re.sub(r"<br ?/?>", "", page) for part in text.split("\n\n"))


def test_lines_that_somebody_writes_in_most_messages_are_no_text(
    folder: Path, settings: Settings, staging: Path
) -> None:
    notice = "Who is not meant by this message deletes it at once, and tells nobody what it said."
    for number in range(1, 6):
        put(folder, str(number), message(number, f"{PROSE} {number}.\n\n{notice}", subject=f"Pump {number}", From=BOB))
    put(folder, "other", message(6, f"{ANSWER}\n\n{notice}", subject="Gauge"))
    take_in(folder, settings)
    assert not any(notice in page_of(staging, f"mail-pump-{number}") for number in range(1, 6))
    assert notice in page_of(staging, "mail-gauge")


def test_an_answer_that_is_given_again_and_again_stays(folder: Path, settings: Settings, staging: Path) -> None:
    for number in range(1, 7):
        text = ANSWER if number % 2 else f"{PROSE} {number}."
        put(folder, str(number), message(number, text, subject=f"Pump {number}", From=BOB))
    take_in(folder, settings)
    assert ANSWER in page_of(staging, "mail-pump-1")


def test_documents_that_are_attached_become_articles_that_the_thread_leads_to(
    folder: Path, settings: Settings, staging: Path
) -> None:
    made = message(1, QUESTION)
    made.add_attachment(b"# Plan\n\nText", maintype="text", subtype="markdown", filename="the plan.md")
    made.add_attachment(b"PK", maintype="application", subtype="zip", filename="all.zip")
    put(folder, "a", made)
    forwarded = message(2, ANSWER, answers=1)
    forwarded.add_attachment(b"# Plan\n\nText", maintype="text", subtype="markdown", filename="the plan.md")
    put(folder, "b", forwarded)
    taken = take_in(folder, settings)
    assert sorted(taken.new) == ["mail-main-valve", "mail-the-plan"]
    assert (staging / "mail-the-plan" / "the plan.md").read_bytes() == b"# Plan\n\nText"
    assert '<a href="../mail-the-plan/the%20plan.md">the plan.md</a>' in page_of(staging)
    assert "<li>all.zip</li>" in page_of(staging)
    assert take_in(folder, settings, attachments=False).gone == ["mail-the-plan"]


def test_pictures_are_where_the_message_shows_them_or_behind_it(
    folder: Path, settings: Settings, staging: Path
) -> None:
    made = message(1, "see")
    made.add_alternative(f'<p>{QUESTION}</p><p><img src="cid:one@x" alt="The gauge"></p><p>{PROSE}</p>', subtype="html")
    rich(made).add_related(PICTURE, maintype="image", subtype="png", cid="<one@x>", filename="gauge.png")
    made.add_attachment(PICTURE + b"2", maintype="image", subtype="jpeg", filename="valve.JPG")
    put(folder, "a", made)
    answer = message(2, ANSWER, answers=1)
    answer.add_alternative(
        f'<p>{ANSWER}</p><blockquote><p>{QUESTION}</p><p><img src="cid:1@y"></p></blockquote>', subtype="html"
    )
    rich(answer).add_related(PICTURE, maintype="image", subtype="png", cid="<1@y>", filename="x.png")
    put(folder, "b", answer)
    take_in(folder, settings)
    page = page_of(staging)
    assert page.index(QUESTION) < page.index('<img src="gauge.png" alt="The gauge">') < page.index(PROSE)
    assert '<img src="valve.jpg" alt="valve">' in page
    assert sorted(path.name for path in (staging / "mail-main-valve").glob("*.*g")) == ["gauge.png", "valve.jpg"]


def test_mbox_and_maildir_are_read_as_single_files_are(folder: Path, settings: Settings, staging: Path) -> None:
    both = [message(1, f"{QUESTION}\n\nFrom here on it is hot."), message(2, ANSWER, answers=1)]
    box = mailbox.mbox(folder / "Archive")
    maildir = mailbox.Maildir(folder / "Maildir")
    for made in both:
        box.add(made)
        maildir.add(made)
    box.close()
    taken = take_in(folder, settings)
    assert taken.new == ["mail-main-valve"]
    page = page_of(staging)
    assert (page.count(QUESTION), page.count(ANSWER)) == (1, 1)
    assert "From here on it is hot." in page


def test_a_mail_program_that_notes_what_was_read_changes_nothing(folder: Path, settings: Settings) -> None:
    maildir = mailbox.Maildir(folder / "Maildir")
    key = maildir.add(message(1, QUESTION))
    box = mailbox.mbox(folder / "old")
    box.add(message(2, PROSE, subject="Pump"))
    box.flush()
    take_in(folder, settings)
    entry = maildir[key]
    entry.set_subdir("cur")
    entry.add_flag("S")
    maildir[key] = entry
    number, noted = next(iter(box.iteritems()))
    noted.add_flag("R")
    box[number] = noted
    box.flush()
    again = take_in(folder, settings)
    assert (again.new, again.changed, again.gone, again.unchanged) == ([], [], [], 2)


def test_a_message_that_comes_changes_its_thread_only(folder: Path, settings: Settings, staging: Path) -> None:
    put(folder, "a", message(1, QUESTION))
    put(folder, "b", message(2, PROSE, subject="Pump"))
    take_in(folder, settings)
    put(folder, "c", message(3, ANSWER, answers=1))
    taken = take_in(folder, settings)
    assert (taken.new, taken.changed, taken.unchanged) == ([], ["mail-main-valve"], 1)
    assert ANSWER in page_of(staging)


def test_addresses_are_masked_if_that_is_told(folder: Path, settings: Settings, staging: Path) -> None:
    made = message(1, f"{QUESTION} Ask carl.o'neil+x@mail.example.org.", subject="For dora@example.org")
    made.replace_header("From", "ann@example.org")
    made.add_alternative(
        f'<p>{QUESTION} <a href="mailto:carl@example.org">Carl</a> carl@example.org</p>', subtype="html"
    )
    put(folder, "a", made)
    taken = take_in(folder, settings, mask=True)
    files = "".join(path.read_text() for path in (staging / taken.new[0]).iterdir() if path.name != ".intake.json")
    assert "example.org" not in files + taken.new[0]
    assert ">Carl</a> ***" in files


TEXT = b"Content-Type: text/plain"
ENCODED = {
    "as told": (b"Subject: =?iso-8859-1?Q?L=FCftung?=\n" + TEXT + b"; charset=latin1", "Lüftung".encode("latin1")),
    "not told": (b"Subject: L\xfcftung\n" + TEXT, "Lüftung".encode("cp1252")),
    "unknown": ("Subject: Lüftung".encode() + b"\n" + TEXT + b"; charset=unknown-8bit", "Lüftung".encode()),
    "nonsense": (b"Subject: =?nonsense?B?w7w=?=\n" + TEXT + b"; charset=utf-16", "Lüftung".encode("utf-16")),
    "packed": (TEXT + b"; charset=utf8\nContent-Transfer-Encoding: base64", b"TMO8ZnR1bmc="),
}


@pytest.mark.parametrize("name", ENCODED)
def test_encodings_are_read_also_if_they_are_named_wrongly(
    folder: Path, settings: Settings, staging: Path, name: str
) -> None:
    heads, body = ENCODED[name]
    (folder / "a.eml").write_bytes(b"From: a@example.org\nMessage-ID: <1@x>\n" + heads + b"\n\n" + body)
    taken = take_in(folder, settings)
    assert "Lüftung" in page_of(staging, taken.new[0])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n\n",
        b"From: x",
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\n" * 3000,
        b"Content-Type: multipart/mixed; boundary=\"\"\n\n--\n\n",
        b"Content-Type: text/plain\nContent-Transfer-Encoding: base64\n\n!!!!",
        b"Subject: \xff\xfe\nMessage-ID: <\x00>\nDate: Mon, 99 Foo 0000\n\n\x00\xff",
        b"Content-Type: message/rfc822\n\n" * 2000,
    ],
)  # fmt: skip
def test_hostile_messages_concern_only_themselves(folder: Path, settings: Settings, staging: Path, data: bytes) -> None:
    (folder / "bad.eml").write_bytes(data)
    put(folder, "a", message(1, QUESTION))
    assert "mail-main-valve" in take_in(folder, settings).new


def test_a_folder_that_vanished_or_cannot_be_read_changes_nothing(
    folder: Path, settings: Settings, staging: Path
) -> None:
    put(folder, "a", message(1, QUESTION))
    take_in(folder, settings)
    folder.rename(folder.with_name("elsewhere"))
    with pytest.raises(IntakeError, match="is its disk mounted"):
        take_in(folder, settings)
    folder.mkdir()
    assert take_in(folder, settings).guard
    assert QUESTION in page_of(staging)
