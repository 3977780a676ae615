"""A model's sentences stand as they were written; a mark stands behind each value that their passages do not have."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.grounding.statements import Statement
from app.grounding.vouching import Suggest, Voucher
from app.language.detection import reader_language
from app.language.messages import Messages
from app.schema.passages import Citation
from kb_pipeline_tests.app.grounding.hits import book, hit, in_section
from kb_pipeline_tests.growth import grows_in_proportion

LAMP = (
    "Press **Start** and hold it for 5 seconds. The lamp blinks 12 times. It was made on 3 March 2024 at 14:30. "
    "Run `lamp --reset` to forget what it learnt. Version v2.4.1 needs 512 MB, and half of it while it sleeps. "
    "Choose a colour from the menu Colours: red, green or blue. It reports a fault every 15 minutes to *Nightwatch*."
)
QUESTIONS = Path(__file__).parents[3] / "benchmarks/questions"


def voucher(*passages: str, question: str = "", language: str = "en", suggest: Suggest | None = None) -> Voucher:
    found = (hit(f"lamp-{at}", "lamp", passage) for at, passage in enumerate(passages))
    return Voucher(book(*found), question, Messages.of(language), suggest)


def vouched(deltas: str | Iterable[str], by: Voucher) -> str:
    """The answer as a reader gets it; here, a mark is ``<?>``."""
    text = "".join(map(by.feed, [deltas] if isinstance(deltas, str) else deltas)) + by.finish()
    for language in ("en", "de", "fr", "es"):
        text = text.replace(f" *({Messages.of(language)('value_not_in_source')})*", "<?>")
    return text


@pytest.mark.parametrize(
    "said",
    [
        "Keep **Start** pressed for five seconds [Ref #1].",
        "After that it flashes a dozen times, twelve in all [Ref #1].",
        "It left the works on 3/3/2024, at half past two: 2:30 pm [Ref #1].",
        "It was made in March 2024, on the 3rd [Ref #1].",
        "Type `lamp --reset` in a shell [Ref #1].",
        "From v2.4.1 on it needs 512MB, and 50 % of that in its sleep [Ref #1].",
        "You may choose one of three colours: **Red**, *green* and “blue” [Ref #1].",
        "Four times an hour it tells Nightwatch about faults [Ref #1].",
        "Die Taste **Start** wird fünf Sekunden lang gedrückt; gebaut wurde sie am 3. März 2024 um 14:30 Uhr [Ref #1].",
        "Maintenez **Start** pendant cinq secondes ; elle date du 3 mars 2024, à 14h30 [Ref #1].",
        "Mantenga **Start** durante cinco segundos; es del 3 de marzo de 2024 a las 14:30 [Ref #1].",
        "1. Press **Start** [Ref #1].\n2. Count to 12 [Ref #1].\n3. Let go of it [Ref #1].",
        "| Key | Seconds |\n|---|---|\n| **Start** | 5 [Ref #1] |\n",
        "The passages do not say how bright it is.",
        "A lamp is never sad, and whales are fish [Ref #1].",
    ],
)
def test_a_sentence_whose_values_its_passage_has_stands_as_it_was_written(said: str) -> None:
    by = voucher(LAMP, language=reader_language(said))
    assert vouched(said, by) == said
    assert by.unsupported == []


@pytest.mark.parametrize(
    "said",
    [
        "Hold it for 6 seconds<?> [Ref #1].",
        "Hold it for five minutes<?> [Ref #1].",
        "Hold it for **6 seconds**<?>, then let go [Ref #1].",
        "It blinks *13*<?> times, then stops [Ref #1].",
        "It needs 512 kB<?> of memory [Ref #1].",
        "It was made on 4 March 2024<?> at 14:30 [Ref #1].",
        "It was made on 3 March 2024 at 14:40<?> [Ref #1].",
        "Press **Stop**<?> and hold it [Ref #1].",
        "Press “Stop”<?> and hold it [Ref #1].",
        "Run `lamp --erase`<?> now [Ref #1].",
        "Version v2.4.2<?> needs more memory [Ref #1].",
        "It reports each fault to Dagobert<?>, as ever [Ref #1].",
        "Press **Stop**<?> for 6 seconds<?> or more [Ref #1].",
        "| Key | Time |\n|---|---|\n| **Start** | 6 seconds<?> [Ref #1] |\n",
        "- Hold it for 6 seconds<?> [Ref #1]\n- Let go of it [Ref #1]\n",
        "Gebaut wurde die Lampe am 4. März 2024<?> und nicht später [Ref #1].",
        "Elle date du 4 mars 2024<?>, dit le guide [Ref #1].",
        "Es del 4 de marzo de 2024<?>, dice la guía [Ref #1].",
    ],
)
def test_a_mark_stands_behind_a_value_that_the_passage_does_not_have(said: str) -> None:
    by = voucher(LAMP, language=reader_language(said))
    assert vouched(said.replace("<?>", ""), by) == said
    assert len(by.unsupported) == 1


@pytest.mark.parametrize(
    "said",
    [
        "Press **Start** ![the key 7](/api/images/lamp/images/key_7.png) [Ref #1].",
        "Press [Start](https://lamp.example/v9.9.9/start) now [Ref #1].",
        "Press it, see https://lamp.example/v9.9.9/start for more [Ref #1].",
    ],
)
def test_images_and_addresses_have_no_values(said: str) -> None:
    assert vouched(said, voucher(LAMP)) == said


def test_what_is_marked_is_kept_without_references_and_marks() -> None:
    by = voucher(LAMP)
    vouched("1. Hold **Start** for 5 seconds [Ref #1]. Then for 6 seconds [Ref #1].", by)
    assert by.unsupported == ["Then for 6 seconds."]


def test_only_the_passages_that_a_sentence_cites_count_for_it() -> None:
    other = "Hold it for 9 seconds."
    assert vouched("Hold it for 9 seconds now [Ref #1].", voucher(LAMP, other)) == (
        "Hold it for 9 seconds<?> now [Ref #1]."
    )
    assert vouched("Hold it for 9 seconds now [Ref #1][Ref #2].", voucher(LAMP, other)).count("<?>") == 0


def test_a_sentence_without_a_reference_is_compared_with_all_passages() -> None:
    said = "Hold it for 9 seconds. Or hold it for 8 seconds."
    assert vouched(said, voucher(LAMP, "Hold it for 9 seconds.")) == (
        "Hold it for 9 seconds. Or hold it for 8 seconds<?>."
    )


def test_a_sentence_without_a_reference_goes_on_with_what_its_line_cited() -> None:
    said = "Press **Start** first [Ref #1]. Hold it for 9 seconds."
    by = voucher(LAMP, "Hold it for 9 seconds.")
    assert vouched(said, by) == "Press **Start** first [Ref #1]. Hold it for 9 seconds<?>."
    assert by.statements == [Statement("Press **Start** first.", (1,)), Statement("Hold it for 9 seconds.", (1,))]


def test_who_asks_may_be_told_the_values_of_the_question() -> None:
    said = "No, not for 9 seconds: Dagobert holds **Start** for 5 seconds [Ref #1]."
    assert vouched(said, voucher(LAMP, question="Can Dagobert hold it for 9 seconds?")) == said


def test_values_of_title_and_headings_count() -> None:
    in_2024 = in_section("lamp-x200", 0, "It is bright.", section="Changes in 2024")
    say = Messages.of("en")
    said = "The Lamp-X200 has become brighter in 2024 [Ref #1]."
    assert vouched(said, Voucher(book(in_2024), "", say)) == said


def test_what_a_reader_counts_in_a_list_or_in_code_counts() -> None:
    records = "```dns\nlamp A 192.0.2.1\nlamp MX mail\nlamp TXT text\n```\n\n- Red\n- Blue\n"
    said = "Create all three records, and choose one of the two colours [Ref #1]."
    assert vouched(said, voucher(records)) == said
    assert vouched("Create all seven records [Ref #1].", voucher(records)) == "Create all seven<?> records [Ref #1]."


def test_without_passages_nothing_is_marked() -> None:
    class Empty:
        citations: tuple[Citation, ...] = ()

    said = "Hold it for 9 seconds, at once."
    assert vouched(said, Voucher(Empty(), "", Messages.of("en"))) == said  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "said", ["## Hold it for 6 seconds\n", "```\nlamp --erase 6\n```\n", "Here are two of them:\n"]
)
def test_headings_code_and_lead_ins_are_not_marked(said: str) -> None:
    assert vouched(said, voucher(LAMP)) == said


def first(said: str, citations: Sequence[Citation]) -> Citation | None:
    return None if "nobody" in said else citations[0]


def test_a_line_without_a_reference_gets_the_suggested_one() -> None:
    said = "Hold **Start** for 5 seconds. Then let go.\nIt blinks [Ref #1]. Then it stops.\n\n- Told by nobody at all\n"
    by = voucher(LAMP, suggest=first)
    assert vouched(said, by) == said.replace("let go.", "let go. *(perhaps from [Ref #1])*")


@pytest.mark.parametrize("after", ["", "\n", "\n\nIt blinks [Ref #1]."])
def test_the_suggested_reference_of_a_table_is_no_row_of_it(after: str) -> None:
    table = "| Key | What it does |\n|---|---|\n| Start | hold it for 5 seconds |"
    shown = vouched(f"{table}{after}", voucher(LAMP, suggest=first))
    assert shown.split("\n\n", 1)[0].strip() == table
    assert "\n\n*(perhaps from [Ref #1])*" in shown
    assert shown.endswith(after.strip() or ")*")


def test_what_code_wrote_is_passed_on_as_it_is() -> None:
    by = voucher(LAMP)
    assert by.feed("Wait for 9 seconds") == ""
    assert by.quote("> Wait for 8 seconds. [Ref #1]\n") == (
        "Wait for 9 seconds *(not in the source)*> Wait for 8 seconds. [Ref #1]\n"
    )
    assert by.finish() == ""


WHOLE = (
    "Hold **Start** for **6 seconds** [Ref #1]. It blinks 12 times, e.g. at 14:30 [Ref #1].\n\n"
    "- Made on 4 March 2024 [Ref #2]\n- Version v2.4.2, see `lamp --erase`\n\n| a | 7 MB |\n|---|---|\n| b | 8 MB |\n"
    "```\nlamp 5\n```\nEnd of 3. März 2024."
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(WHOLE)), max_size=12))
def test_the_output_does_not_depend_on_how_the_answer_is_cut(cuts: list[int]) -> None:
    at = [0, *sorted(cuts), len(WHOLE)]
    deltas = [WHOLE[start:end] for start, end in pairwise(at)]
    one, other = voucher(LAMP, suggest=first), voucher(LAMP, suggest=first)
    assert vouched(deltas, one) == vouched(WHOLE, other)
    assert (one.unsupported, one.statements) == (other.unsupported, other.statements)


@given(st.text(alphabet="ab 12.,:*`[]()#|\n\"'“”-–5%MRef", max_size=80))
def test_no_character_of_an_answer_is_changed_or_lost(text: str) -> None:
    assert vouched(text, voucher(LAMP)).replace("<?>", "") == text


@pytest.mark.parametrize(
    "part",
    [
        *(
            "1",
            "1 ",
            "[",
            "(",
            "**",
            "`",
            "“",
            "word ",
            "Word ",
            "A",
            "5 minutes ",
            "3 March 2024 ",
            "[Ref #1]",
            "![",
            "](",
            "http://a",
        ),
        *("**A** ", "`a b` ", "/a", "a_b ", "1. ", "| a ", "|1|\n", "a. A "),
    ],
)
def test_hostile_answers_and_passages_take_time_in_proportion(part: str) -> None:
    def vouch(size: int) -> None:
        text = part * (size // len(part))
        vouched(text, voucher(LAMP))
        vouched("Hold **Stop** for 6 seconds [Ref #1].", voucher(text))

    assert grows_in_proportion(vouch, 20_000)


def lines(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (QUESTIONS / f"{name}.jsonl").read_text("utf-8").splitlines()]


def marked(line: dict[str, str]) -> tuple[int, int]:
    """How many sentences of an answer are marked, of how many."""
    title, *headings = line["heading"].split(" > ")
    passage = in_section("manual", 0, line["passage"], section=headings[-1] if headings else title)
    path = {"title": title, "heading_path": (title, *headings)}
    passage = passage.model_copy(update={"chunk": passage.chunk.model_copy(update=path)})
    by = Voucher(book(passage), line["question"], Messages.of(reader_language(line["answer"])))
    vouched(line["answer"].replace("[Ref #?]", "[Ref #1]"), by)
    return len(by.unsupported), len(by.statements)


def test_hardly_a_sentence_of_true_answers_is_marked() -> None:
    marks, sentences = map(sum, zip(*map(marked, lines("good_answers")), strict=True))
    assert sentences > 300
    assert marks / sentences <= 0.03  # measured: 2.2 %


def test_most_wrong_values_are_marked() -> None:
    """Wrong relations are not: they have no value of their own, and are left to a judge."""
    answers, wrong = Counter[str](), Counter[str]()
    for line in lines("near_misses"):
        answers[line["kind"]] += 1
        wrong[line["kind"]] += marked(line)[0] > 0
    shares = {kind: wrong[kind] / answers[kind] for kind in answers}
    measured = {"number": 0.78, "unit": 0.72, "date": 0.87, "code": 0.82, "name": 0.47}
    assert {kind: share for kind, share in shares.items() if share < measured.get(kind, 0)} == {}
