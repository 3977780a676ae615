"""Passages bear a statement out if they contain its words, its numbers and its names."""

import pytest

from app.grounding.bearing import Bearing
from kb_pipeline_tests.app.grounding.passages import citation
from kb_pipeline_tests.growth import grows_in_proportion

CROP = citation(
    """To crop a layer, open the menu *Layer* and choose **Crop to Content**. The layer is reduced to the smallest
rectangle that contains its pixels. At most 20 steps can be undone.

| Key | Effect |
|---|---|
| Ctrl+Z | undoes the crop |""",
    1,
    "Layers",
)
EXPORT = citation(
    "GIF images have a maximum of 256 colors. Choose **Export As** in the menu *File* and enter the name of the image.",
    2,
    "Export",
    article_id="export",
)
BEARING = Bearing([CROP, EXPORT], "How do I shrink a layer?")


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("Open the Layer menu and choose **Crop to Content**.", (1,)),
        ("This reduces the layer to the smallest rectangle containing its pixels.", (1,)),
        ("A GIF image can have 256 colors at most.", (2,)),
        ("Ctrl+Z undoes the crop.", (1,)),
        ("Use Photoshop to record the screen.", ()),
        ("The weather in Paris is mild in spring.", ()),
    ],
)
def test_the_passage_that_contains_the_words_of_a_statement_bears_it_out(said: str, numbers: tuple[int, ...]) -> None:
    assert BEARING.supporters(said) == numbers


@pytest.mark.parametrize(
    "said",
    [
        "At most 30 steps can be undone.",
        "A GIF image has a maximum of 2,560 colors.",
        "Open the menu *Layer* and choose **Crop to Selection**.",
        "Open the menu *Image* and choose **Crop to Content**.",
        "Choose “Save As” in the menu *File* and enter the name of the image.",
    ],
)
def test_another_number_or_another_name_is_not_borne_out(said: str) -> None:
    assert BEARING.supporters(said) == ()


WAYS = citation(
    """**Undo**: press **Ctrl**+**Z**; Shift+Ctrl+Z does it again. Open the brushes with
Windows → *Dockable Dialogs* → Brushes. You find New in the menu File.""",
    1,
    "Ways",
)


@pytest.mark.parametrize(
    ("said", "numbers"),
    [
        ("Press Ctrl + Z to undo.", (1,)),
        ("Press Ctrl+Shift+Z to do it again.", (1,)),
        ("Press Alt+Z to undo.", ()),
        ("To undo, press Ctrl+Alt+Z.", ()),
        ("Open the brushes with **Windows** > **Dockable Dialogs** > **Brushes**.", (1,)),
        ("Open Dockable Dialogs › Brushes with Windows.", (1,)),
        ("Open the brushes with Windows → Brushes.", ()),
        ("Open the brushes with Windows → Dockable Windows → Brushes.", ()),
        ("Open the menu File > New.", (1,)),
        ("Open the brushes with Windows → Toolbox → Brushes.", ()),
    ],
)
def test_another_way_to_the_same_key_or_entry_is_not_borne_out(said: str, numbers: tuple[int, ...]) -> None:
    assert Bearing([WAYS]).supporters(said) == numbers


@pytest.mark.parametrize(
    "said", ["A layer cannot be reduced to its pixels.", "The smallest rectangle does not contain its pixels."]
)
def test_the_opposite_is_not_borne_out(said: str) -> None:
    assert BEARING.supporters(said) == ()


def test_what_a_passage_denies_is_borne_out_only_as_a_denial() -> None:
    bearing = Bearing([citation("The background layer cannot be moved below other layers.")])
    assert bearing.supporters("You cannot move the background layer below other layers.") == (1,)
    assert bearing.supporters("You can move the background layer below other layers.") == ()


def test_a_name_that_another_clause_has_amid_others_is_not_what_that_clause_is_about() -> None:
    large = "Scaling that makes it larger than the limit (which is 128 Mb by default) asks to confirm the operation."
    consumed = "Extreme sizes consume memory, causing Wilber to crash."
    said = "Wilber asks to confirm the operation that makes it larger than the limit (which is 128 Mb by default)."
    assert Bearing([citation(f"{large} {consumed}")]).supporters(said) == (1,)


@pytest.mark.parametrize(
    ("said", "is_borne_out"),
    [
        ("To keep a dialog from being moved by accident, you can lock its tab to the dock.", True),
        ("To prevent that a dialog gets moved by accident, lock its tab to the dock.", True),
        ("The option Hard edge erases at the edges of the stroke without partial erasure.", True),
        ("The option Hard edge leaves partial erasure at the edges of the stroke.", False),
    ],
)
def test_what_is_avoided_is_denied_in_other_words(said: str, is_borne_out: bool) -> None:
    lock = "To make sure that a dialog doesn't get moved by accident, you can lock its tab to the dock."
    erase = "The option Hard edge avoids partial erasure at the edges of the stroke."
    assert bool(Bearing([citation(f"{lock} {erase}")]).supporters(said)) is is_borne_out


def test_words_of_the_question_that_no_passage_has_count_less() -> None:
    said = "To shrink a layer, choose Crop."
    assert BEARING.share(said, 1) > Bearing([CROP, EXPORT]).share(said, 1)


def test_passages_that_the_author_names_can_bear_a_statement_out_together() -> None:
    said = "Choose **Crop to Content** in the menu *Layer*, then enter the name of the image in **Export As**."
    assert BEARING.supporters(said, written=(1, 2)) == (1, 2)
    assert BEARING.supporters(said) == ()


def test_a_passage_that_the_author_names_is_kept_if_it_bears_the_statement_out() -> None:
    copy = CROP.model_copy(update={"number": 3, "chunk_id": "copy"})
    bearing = Bearing([CROP, EXPORT, copy])
    said = "Choose **Crop to Content** in the menu *Layer*."
    assert bearing.supporters(said) == (1,)
    assert bearing.supporters(said, written=(3,)) == (3,)
    assert bearing.supporters(said, written=(2,)) == (1,)
    assert bearing.supporters(said, written=(9,)) == (1,)
    assert bearing.supporters(said, cited=(3,)) == (3,)


def test_what_a_falsified_copy_says_is_not_from_the_passage_that_the_author_names() -> None:
    real = citation("To keep a layer for later, press Ctrl+S and enter a name for the new image file.", 1)
    copy = citation(
        "To keep a layer for later, press Ctrl+S and delete a name for the new image file.", 2, article_id="copy"
    )
    said = "To keep a layer for later, press Ctrl+S and delete a name for the new image file."
    assert Bearing([real, copy]).supporters(said, [1], [1]) == (2,)


def test_the_language_of_the_passages_is_known_by_their_words() -> None:
    assert BEARING.speaks("Use the menu to record a video of the screen.")
    assert not BEARING.speaks("Wählen Sie im Menü Ebene den Eintrag Auf Inhalt zuschneiden.")
    assert Bearing([]).speaks("Wählen Sie es aus."), "where there are no passages, none are in another language"


def test_without_passages_nothing_is_borne_out() -> None:
    assert Bearing([]).supporters("Choose Crop to Content.", written=(1, 2)) == ()


@pytest.mark.parametrize("unit", ["crop layer ", "**a** ", '"a ', "1.1,1", "*a* `b` "])
def test_hostile_statements_take_time_in_proportion(unit: str) -> None:
    assert grows_in_proportion(lambda characters: BEARING.supporters((unit * 50_000)[:characters]), 50_000)


def test_an_invented_word_among_those_of_the_question_is_not_borne_out() -> None:
    passages = [citation("The type is selected in the display filter dialog: Deuteranopia.", 1)]
    asked = Bearing(passages, "Which type is selected in the display filter dialog?")
    assert asked.supporters("Proteinuria is selected in the display filter dialog.") == ()
    assert asked.supporters("Deuteranopia is selected in the display filter dialog.") == (1,)
    assert asked.supporters("Yes, the type is selected in the display filter dialog.") == (1,)


OPTIONS = citation(
    """**Radius**

This value sets how far the blur reaches into the picture.

**Threshold**

Pixels whose neighbours differ less than this value are left as they are. It does not change the colors of the border.

**Preview**

If the picture is not shown, activate the preview. Data is copied without loss.""",
    1,
    "Blur",
)


@pytest.mark.parametrize(
    ("said", "is_borne_out"),
    [
        ("The Radius sets how far the blur reaches into the picture.", True),
        ("The Threshold sets how far the blur reaches into the picture.", False),
        ("**Threshold**: sets how far the blur reaches into the picture.", False),
    ],
)
def test_what_is_said_of_one_option_is_not_borne_out_by_what_another_does(said: str, is_borne_out: bool) -> None:
    assert bool(Bearing([OPTIONS]).supporters(said)) is is_borne_out


@pytest.mark.parametrize(
    ("said", "is_borne_out"),
    [
        ("Activate the preview of the picture.", True),
        ("If the picture is not shown, activate the preview.", True),
        ("Do not activate the preview of the picture.", False),
        ("The preview copies data without loss.", True),
        ("The preview copies data with loss.", False),
    ],
)
def test_a_condition_that_denies_is_no_denial_of_what_it_is_for(said: str, is_borne_out: bool) -> None:
    assert bool(Bearing([OPTIONS]).supporters(said)) is is_borne_out


STATES = citation(
    """Pending tickets wait for the customer, and solved tickets close by themselves after seven days. The team has
two queues. Merging cannot be undone. The quota is updated in the absence of disk activity. Nothing is sent to
customers.

Click **Test rule**, then **Save schedule**. The view of the schedule is saved in the file `/etc/quota.conf`.

| Priority | First reply | Resolution |
|---|---|---|
| Urgent | 30 min | 4 h |
| Low | 8 h | 40 h |""",
    1,
    "Tickets",
)


@pytest.mark.parametrize(
    ("said", "is_borne_out"),
    [
        ("Solved tickets close by themselves after seven days.", True),
        ("Pending tickets close by themselves after seven days.", False),
        ("Urgent tickets have a first reply of 30 min and a resolution of 4 h.", True),
        ("Urgent tickets have a first reply of 8 h and a resolution of 40 h.", False),
        ("The team has two queues.", True),
        ("The team has three queues.", False),
        ("No, merging cannot be undone.", True),
        ("Yes, merging can be undone.", False),
        ("The quota is updated when there is no disk activity.", True),
        ("It is sent to customers.", False),
        ("It is not sent to customers.", True),
        ("Click Test rule and then **Save schedule**.", True),
        ("Click Save view and then Test rule.", False),
        ("The schedule is saved in `/etc/quota.conf`.", True),
        ("The schedule is saved in `/quota/etc.conf`.", False),
    ],
)
def test_words_of_a_passage_bear_out_only_what_it_says_with_them(said: str, is_borne_out: bool) -> None:
    assert bool(Bearing([STATES]).supporters(said)) is is_borne_out


def test_a_number_that_the_question_says_need_not_be_in_the_passage_unless_it_is_what_is_asked() -> None:
    said = "Click **Test rule** for two rules."
    assert Bearing([STATES], "How do I test two rules?").supporters(said) == (1,)
    assert Bearing([STATES], "Do I test ten rules?").supporters(said.replace("two", "ten")) == ()
