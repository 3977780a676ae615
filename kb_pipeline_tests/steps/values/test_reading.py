"""Which values a text has, and which of them are equal however they are written."""

from itertools import pairwise

import pytest

from kb_pipeline.steps.values.reading import said_otherwise, values_of
from kb_pipeline_tests.growth import grows_in_proportion


def found(text: str) -> list[str]:
    return [text[value.start : value.end] for value in values_of(text)]


def are_equal(one: str, other: str) -> bool:
    """Whether two texts of one value each share a reading."""
    (first,), (second,) = values_of(one), values_of(other)
    return not first.readings.isdisjoint(second.readings)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a week", "7 days"),
        ("one week", "168 hours"),
        ("60 seconds", "1 minute"),
        ("a month", "30 days"),
        ("a year", "12 months"),
        ("a year", "365 days"),
        ("90 days", "3 months"),
        ("100k", "100,000"),
        ("2 million", "2.000.000"),
        ("1 000", "1’000"),
        ("1.5 GB", "1,5 gigabytes"),
        ("1 GB", "1024 MB"),
        ("24h", "a day"),
        ("512MB", "512 megabytes"),
        ("10min", "10 minutes"),
        ("15-minütige", "15 minutes"),
        ("14 Tagen", "two weeks"),
    ],
)
def test_numbers_are_equal_in_other_units_and_notations(one: str, other: str) -> None:
    assert are_equal(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("a week", "5 days"), ("7 days", "7 hours"), ("100k", "100 m"), ("5 minutes", "5"), ("1 GB", "1 MB")],
)
def test_numbers_with_other_units_are_others(one: str, other: str) -> None:
    assert not are_equal(one, other)


def test_a_rate_is_no_time_and_a_preposition_no_unit() -> None:
    assert found("It serves 20 requests per minute.") == ["20", "per minute"]
    assert found("The angle is from 5 to 10.") == ["5", "10"]
    assert found("5 Go") == ["5 Go"]


@pytest.mark.parametrize(
    "written",
    [
        "3 March 2024",
        "3rd of March 2024",
        "March 3, 2024",
        "March 3rd, 2024",
        "2024-03-03",
        "03.03.2024",
        "3/3/2024",
        "3. März 2024",
        "3 mars 2024",
        "3 de marzo de 2024",
    ],
)
def test_a_date_is_the_same_in_all_its_forms(written: str) -> None:
    assert are_equal(written, "2024-03-03")
    assert not are_equal(written, "2024-03-04")


def test_a_date_of_which_day_and_month_may_be_swapped_has_both_readings() -> None:
    assert are_equal("03/04/2024", "3 April 2024")
    assert are_equal("03/04/2024", "March 4, 2024")


@pytest.mark.parametrize("written", ["14:30", "2:30 pm", "2:30 p.m.", "14h30", "14:30 Uhr", "14:30:59", "2:30 pm UTC"])
def test_a_time_of_day_is_the_same_in_all_its_forms(written: str) -> None:
    assert are_equal(written, "14:30")
    assert not are_equal(written, "14:31")


@pytest.mark.parametrize("written", ["8 o'clock", "eight o’clock", "acht Uhr", "8 Uhr"])
def test_an_hour_without_half_of_day_is_in_the_morning_or_in_the_evening(written: str) -> None:
    assert are_equal(written, "8 am")
    assert are_equal(written, "8 pm")


def test_an_hour_in_short_is_a_time_of_day_or_how_long() -> None:
    assert are_equal("14h", "14:00")
    assert are_equal("14h", "14 hours")


def test_a_moment_of_a_machine_is_a_date_and_a_time_in_the_24_hours_of_a_day() -> None:
    moment = "2026-03-30T11:58:21Z"
    assert found(moment) == ["2026-03-30", "11:58:21"]
    assert values_of(moment)[1].readings == {("time", 11 * 60 + 58)}


@pytest.mark.parametrize(
    ("rate", "every"),
    [
        ("four times an hour", "a quarter of an hour"),
        ("twice a day", "12 hours"),
        ("4-mal pro Stunde", "eine Viertelstunde"),
        ("half an hour", "30 minutes"),
        ("une demi-heure", "30 minutes"),
        ("media hora", "30 minutes"),
        ("half a minute", "30 seconds"),
        ("half a year", "6 months"),
        ("half a gigabyte", "500 MB"),
        ("three quarters of an hour", "45 minutes"),
    ],
)
def test_how_often_is_after_which_time_again(rate: str, every: str) -> None:
    assert are_equal(rate, every)


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("fünfzig Prozent", "50 %"),
        ("fifty percent", "50%"),
        ("cincuenta por ciento", "50 percent"),
        ("dreißig Tage", "30 days"),
        ("trente jours", "30 days"),
        ("treinta días", "30 days"),
        ("deux heures", "2 hours"),
        ("zwei Stunden", "2 h"),
        ("sechzig", "60"),
    ],
)
def test_numbers_and_units_are_read_in_words_of_each_language(said: str, number: str) -> None:
    assert are_equal(said, number)


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("half of it", ("percent", 50.0)),
        ("die Hälfte", ("percent", 50.0)),
        ("3/4 of it", ("percent", 75.0)),
        ("a daily report", ("duration", 86_400.0)),
        ("ein wöchentlicher, das heißt wöchentlich", ("duration", 7 * 86_400.0)),
        ("twice a day", ("duration", 86_400.0)),
    ],
)
def test_parts_and_what_comes_again_can_be_meant_by_a_number(text: str, reading: tuple[str, float]) -> None:
    assert reading in set(said_otherwise(text))


@pytest.mark.parametrize(
    "code", ["v2.4.1", "3.1.2", "ERR_CONN", "--dry-run", "/etc/hosts", "settings.yaml", "AB-1234", "i18n", "100km2"]
)
def test_versions_options_paths_and_identifiers_are_codes(code: str) -> None:
    (value,) = values_of(f"It is {code} here")
    assert value.kind == "code"
    assert value.readings == {("code", code.casefold())}


@pytest.mark.parametrize(
    "text",
    [
        "1. Open it.\n2. Close it.",
        "- 3) Close it.",
        "one of them",
        "most of a year",
        "eine von ihnen",
        "the second step",
        "the first and the 2nd",
        "the 1990s",
        "the 50th",
        "lamps and bulbs",
        "#12",
        "",
    ],
)
def test_numbers_of_steps_and_places_in_an_order_are_no_values(text: str) -> None:
    assert [value for value in values_of(text, ("en", "de")) if value.kind != "code"] == []


def test_a_word_is_a_number_only_in_the_languages_of_the_text() -> None:
    assert values_of("Press it once", ("en",)) == []
    assert [value.readings for value in values_of("once a week", ("en",))] == [{("duration", 7 * 86_400.0)}]
    assert [value.readings for value in values_of("Hay once", ("es",))] == [{("number", 11.0)}]


def test_values_stand_in_the_order_of_the_text_and_do_not_overlap() -> None:
    text = "On 3 March 2024 at 14:30 it ran v2.4.1 for 5 minutes, four times an hour"
    values = values_of(text)
    assert found(text) == ["3 March 2024", "14:30", "v2.4.1", "5 minutes", "four times an hour"]
    assert all(one.end <= other.start for one, other in pairwise(values))


@pytest.mark.parametrize(
    "part",
    [
        *("1", "1 ", "1,", "1.000", "1:", "(", "[", "a", "a.", "one ", "twenty ", "minutes ", "5 minutes ", "-"),
        *("/a", "a_", "March ", "3 March ", "a day ", "4 times ", "half ", "\u00a0", "\n1. ", "1. "),
    ],
)
def test_hostile_text_takes_time_in_proportion(part: str) -> None:
    assert grows_in_proportion(lambda size: values_of(part * (size // len(part))), 20_000)
