"""What a screen says to its reader, from the lines that were recognised on it."""

from kb_pipeline.steps.describe import OcrLine, message_of


def line(text: str, top: float, left: float = 300, height: float = 14) -> OcrLine:
    return OcrLine(text, 0.95, left, top, left + 8 * len(text), top + height)


MENU = [line(text, 100 + 40 * at, left=20) for at, text in enumerate(("General", "Users and teams", "API keys"))]
DIALOG = [
    line("Error 429", 100, height=22),
    line("Too many requests. This key has made", 140),
    line("more than 120 calls a minute.", 160),
    line("OK", 220),
]


def test_an_error_is_told_with_its_title_and_without_the_screen_around_it() -> None:
    assert message_of([*MENU, *DIALOG]) == (
        "Error 429. Too many requests. This key has made more than 120 calls a minute"
    )


def test_trouble_is_told_rather_than_other_sentences() -> None:
    hint = line("Rules run from top to bottom.", 400)
    assert message_of([hint, line("The delivery failed.", 300)]) == "The delivery failed"
    assert message_of([hint, *MENU]) == "Rules run from top to bottom"


def test_a_screen_without_a_sentence_says_nothing() -> None:
    assert message_of(MENU) == message_of([]) == ""


def test_a_page_of_text_is_cut_between_words() -> None:
    said = message_of([line(f"This is sentence number {at} of a very long text.", 100 + 20 * at) for at in range(50)])
    assert 300 < len(said) <= 400
    assert said.split()[-1] in {*"This is sentence number of a very long text.".split(), *map(str, range(50))}
