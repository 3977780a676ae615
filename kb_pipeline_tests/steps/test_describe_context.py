"""What the article says about an image joins what the image shows, where it says something."""

import pytest

from kb_pipeline.records import ImageDescription, ImageReference
from kb_pipeline.steps.describe import in_context

SHOWN = ImageDescription(description="Text on screen: Save; Cancel.", ui_elements=("Save", "Cancel"))


def blended(alt: str = "", caption: str = "", context: str = "", shown: ImageDescription = SHOWN) -> ImageDescription:
    reference = ImageReference(file="a-1.image", stem="a-1", sha256="0", alt=alt, caption=caption, context=context)
    return in_context(shown, reference)


def test_what_the_author_wrote_comes_before_what_is_on_the_picture() -> None:
    assert blended(alt="Adding a rule", context="Click Save").description == (
        "Adding a rule. Shown at the step: Click Save. On the picture: Text on screen: Save; Cancel."
    )


@pytest.mark.parametrize(
    "alt", ["", "image", "Screenshot 3", "Figure 1.2", "shot_01.png", "img-2024-11-03", "The picture", "IMG20241103"]
)
def test_alternative_text_that_says_nothing_is_left_out(alt: str) -> None:
    assert blended(alt=alt).description == SHOWN.description


def test_what_was_said_is_not_said_again() -> None:
    assert blended(alt="The rules page", caption="Figure 3. The rules page", context="The rules page").description == (
        "The rules page. On the picture: Text on screen: Save; Cancel."
    )


def test_a_numbered_title_is_no_step() -> None:
    assert (
        blended(context="Figure 3.1. The rules page").description
        == "The rules page. On the picture: Text on screen: Save; Cancel."
    )


def test_a_long_context_is_cut_to_its_last_sentences() -> None:
    description = blended(context=f"{'Far away. ' * 60}Click Save.").description
    assert "Click Save. On the picture: " in description
    assert len(description) < 350


def test_the_step_names_the_path_when_the_image_shows_none() -> None:
    context = "Go to Settings > Users."
    assert blended(context=context).navigation_path == ("Settings", "Users")
    shown = SHOWN.model_copy(update={"navigation_path": ("Home", "Rules")})
    assert blended(context=context, shown=shown).navigation_path == ("Home", "Rules")


def test_elements_stay() -> None:
    assert blended(alt="Adding a rule").ui_elements == SHOWN.ui_elements
