"""What names or reaches a person is masked; the rest of a question stays as it is."""

import pytest

from kb_pipeline.personal import question_to_keep, without_personal, without_signature


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("Write to ann.o'hara+x@mail.example.com now", "Write to [e-mail address] now"),
        ("Call me at 030 1234567 or +49 171 1234567", "Call me at [telephone number] or [telephone number]"),
        ("Bitte rufen Sie mich unter 089/12 34 56 78 zurück", "Bitte rufen Sie mich unter [telephone number] zurück"),
        ("My number is (650) 253-0000, please call", "My number is [telephone number], please call"),
        ("Appelez-moi au 01 42 68 53 00 s'il vous plaît", "Appelez-moi au [telephone number] s'il vous plaît"),
        ("Hello Jane, Dear Ms O'Neil-Smith: and Hallo Frau Müller!", "Hello [name], Dear [name]: and Hallo [name]!"),
        ("https://jane:pw@shop.example.com:8443/hook?token=abc#x fails", "https://shop.example.com:8443/hook fails"),
        ("Open www.example.com/a?b=c.", "Open www.example.com/a."),
        ("https://example.com/reset/3f9a8b7c6d5e4f3a2b1c expired", "https://example.com/reset/*** expired"),
        ("My password=hunter2-abc is refused", "My password=*** is refused"),
        ("http://[::1 is no address", "*** is no address"),
    ],
)
def test_what_reaches_a_person_is_masked(text: str, masked: str) -> None:
    assert without_personal(text) == masked


@pytest.mark.parametrize(
    "text",
    [
        "Build 10.0.19045.3693 fails with 0x80070643 on 2026-03-01 12:30:15",
        "Order 123456, ISO 27001:2022, port 8080, 192.168.178.22",
        "dear printer broke down again in the office",
        "Hello, where is the log?",
        "What does https://example.com/docs/webhooks mean?",
    ],
)
def test_other_numbers_and_words_stay(text: str) -> None:
    assert without_personal(text) == text


def test_names_of_who_asks_are_masked_wherever_they_stand() -> None:
    assert without_personal("I am Ann and annoyed, says ann", ["ann", "x"]) == "I am [name] and annoyed, says [name]"


def test_of_a_mail_only_the_question_is_kept_and_masked() -> None:
    mail = "Dear Ms Smith,\nmy name is Jane Doe.\nWhy does jane@example.com bounce?\nRegards\nJane"
    assert question_to_keep(mail) == "Why does [e-mail address] bounce?"


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("How do I crop a layer? Regards, Ann", "How do I crop a layer? Regards, [name]"),
        (
            "How do I crop a layer?\nThank you very much, Ann O'Neil",
            "How do I crop a layer?\nThank you very much, [name]",
        ),
        ("Jak zmienić hasło? Z poważaniem, Jan Kowalski\n", "Jak zmienić hasło? Z poważaniem, [name]"),
        ("Wie drucke ich? Viele Grüße\nDr. Jan Müller-Lüdenscheidt", "Wie drucke ich? Viele Grüße\n[name]"),
        ("It does not print. Thanks! J. Doe", "It does not print. Thanks! [name]"),
        ("How do I crop a layer?\n\nÉmile", "How do I crop a layer?\n\n[name]"),
        ("How do I crop a layer? -- Ann", "How do I crop a layer? -- [name]"),
    ],
)
def test_the_name_with_which_a_message_ends_is_masked_by_its_place(text: str, masked: str) -> None:
    assert without_signature(text) == masked
    assert "Ann" not in question_to_keep(text)


@pytest.mark.parametrize(
    "text",
    [
        "How do I print from Word, Excel",
        "How do I crop a layer in GIMP",
        "Where is the log? On Windows 11, Chrome 142",
        "Where is the log? In French, please",
        "Does it print, too?",
        "How do I move a layer from one picture to another, Layer or Image",
        "Hello, Ann",
        "Ann",
        "",
    ],
)
def test_what_ends_in_a_sentence_is_no_signature(text: str) -> None:
    assert without_signature(text) == text
