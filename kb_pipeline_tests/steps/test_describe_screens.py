"""What a person reads off real screenshots is what their descriptions say.

``screens/`` has the recognised lines of the pictures of ``samples/``, and of a few from the help of GIMP and Oxygen:
text, confidence, box, words, background and frame of each line, as the local analyzer gives them to
``describe_lines``. The expectations below were written down by looking at the pictures.
"""

import json
from functools import cache
from pathlib import Path

import pytest

from kb_pipeline.records import ImageDescription
from kb_pipeline.steps.describe import OcrLine, OcrWord, PixelBox, describe_lines

SCREENS = Path(__file__).parent / "screens"

PATHS = {
    "automation-rules": "Settings > Tickets > Automation rules",
    "business-hours": "Settings > Workspace > Business hours",
    "canned-response-picker": "Tickets > All open > #48213",
    "canned-responses": "Settings > Tickets > Canned responses",
    "edit-permissions": "Settings > Workspace > Users and teams",
    "email-address": "Settings > Channels > Email > Add address",
    "knowledge-editor": "Knowledge > Articles > Track your delivery",
    "rule-editor": "Settings > Tickets > Automation rules > Escalate late deliveries",
    "settings-navigation": "Tickets > SLA policies",
    "sla-policy": "Settings > Tickets > SLA policies > Standard support",
    "support-overview": "Reports > Support overview",
    "ticket-detail": "Tickets > All open > #48213",
    "ticket-list": "Tickets > All open",
    "users-and-teams": "Settings > Workspace > Users and teams",
    "webhook": "Settings > Developers > Webhooks > Warehouse sync",
    "gimp-mode-menu": "Image > Mode > ORGB",  # the radio button was read as a letter
    "gimp-tabs": "Coupled-Map-Lattice Explorer > Others",
    "oxygen-tree": (
        "Data Source Explorer > PostgreSQL Connection > postgres > public > testTable > xmlData [XML(2147483647)]"
    ),
}
"""The breadcrumb, open menus, or selected entry that a picture shows. The others show none."""

OPENINGS = {
    "automation-rules": "Settings page “Automation rules”.",
    "edit-permissions": "Settings page “Users and teams”.",
    "email-dns-records": "Table “DNS records of alderpine.example.com”.",
    "gimp-sliders": "Panel “Shadows-Highlights”.",
    "gimp-tabs": "Dialog “Coupled-Map-Lattice Explorer”.",
    "publishing-panel": "Panel “Publishing”.",
    "rule-test": "Dialog “Test rule: Escalate late deliveries”.",
    "save-view": "Dialog “Save view”.",
    "support-overview": "Page “Support overview”.",
    "ticket-list-filters": "Dialog “Filter tickets”.",
    "webhook-deliveries": "Table “Recent deliveries”.",
}

ELEMENTS = {
    "automation-rules": {
        "Search tickets, customers, articles",
        "New ticket",
        "New rule",
        "Active",
        "Inactive",
        "Run log",
    },
    "email-address": {"Support address", "Sender name", "New tickets go to team", "Copy", "Cancel", "Continue"},
    "gimp-sliders": {"Shadows", "Highlights color adjustment", "White point adjustment", "Preview", "Split view"},
    "gimp-tabs": {"Hue", "Others", "Misc Ops", "Zoom scale", "New Seed", "Help", "Cancel", "OK"},
    "publishing-panel": {"Section", "Everyone", "Agents only", "Language", "Suggest to agents in tickets"},
    "rule-editor": {"Test rule", "Save rule", "Add condition", "Add action", "Set priority"},
    "save-view": {"View name", "Only me", "Everyone", "Sort by", "Cancel", "Save view"},
    "settings-navigation": {"General", "API keys", "Canned responses", "Ticket fields", "Webhooks"},
    "ticket-detail": {"Public reply", "Internal note", "Save draft", "Send as Pending", "Assignee"},
    "users-and-teams": {"Users", "Teams", "Invitations", "Export", "Invite user", "Two-step sign-in"},
    "webhook": {"Endpoint URL", "Signing secret", "Send test event", "Save webhook", "Resend"},
}
"""Some of what can be clicked, filled in or chosen."""

NO_ELEMENTS = {
    "business-hours": {"Europe/Berlin", "08:00", "Q Search tickets, customers, articles", "On API keys"},
    "gimp-tabs": {"Random, ch. independent", "1", "0"},
    "publishing-panel": {"Orders and delivery", "English", "Tomás Vidal", "Every 6 months"},
    "rule-editor": {"PR", "Last changed by Priya Raman on 4 March"},
    "save-view": {"Late deliveries", "Next SLA target, soonest first"},
    "support-overview": {"1 March", "March", "Updated 12 minutes ago", "Orders", "PR"},
    "ticket-detail": {"EF", "Elena Fischer", "Hannah Lindqvist", "Tomás Vidal", "Customer, today at 13:42", "Returns"},
    "ticket-list": {"Hannah L.", "#48213", "Refund for returned armchair", "148", "2 selected"},
    "users-and-teams": {"Priya Raman", "priya@alderpine.example.com", "Administrator", "5 min ago", "Users 17"},
}
"""Values, people, dates, and what icons were taken for."""


@cache
def described(name: str) -> ImageDescription:
    screen = json.loads((SCREENS / f"{name}.json").read_text(encoding="utf-8"))
    return describe_lines(lines_of(name), screen["width"], screen["height"])


def lines_of(name: str) -> list[OcrLine]:
    screen = json.loads((SCREENS / f"{name}.json").read_text(encoding="utf-8"))
    return [
        OcrLine(
            text,
            score,
            left,
            top,
            right,
            bottom,
            tuple(OcrWord(*w) for w in words),
            tuple(ground),
            frame and PixelBox(*frame),
        )
        for text, score, left, top, right, bottom, words, ground, frame in screen["lines"]
    ]


NAMES = sorted(path.stem for path in SCREENS.glob("*.json"))


@pytest.mark.parametrize("name", NAMES)
def test_the_path_is_the_one_that_the_picture_shows(name: str) -> None:
    assert " > ".join(described(name).navigation_path) == PATHS.get(name, "")


@pytest.mark.parametrize("name", sorted(OPENINGS))
def test_the_description_begins_with_the_kind_of_screen_and_its_title(name: str) -> None:
    assert described(name).description.startswith(OPENINGS[name])


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_buttons_fields_tabs_and_entries_are_elements(name: str) -> None:
    assert ELEMENTS[name] <= set(described(name).ui_elements)


@pytest.mark.parametrize("name", sorted(NO_ELEMENTS))
def test_values_people_dates_and_icons_are_no_elements(name: str) -> None:
    assert NO_ELEMENTS[name].isdisjoint(described(name).ui_elements)


def test_fields_are_told_with_their_values() -> None:
    assert "View name: Late deliveries; Sort by: Next SLA target, soonest first." in described("save-view").description
    assert "Time zone: Europe/Berlin; Holiday calendar: Germany, 9 days" in described("business-hours").description


def test_the_rows_of_a_table_stay_together() -> None:
    text = described("email-addresses").description
    assert "A table lists Address, Team, Forwarding, Domain and Tickets (30 days)." in text
    assert "returns@alderpine.example.com, Returns, Working, Verified, 320" in text


@pytest.mark.parametrize("name", NAMES)
def test_every_word_on_a_picture_can_be_found(name: str) -> None:
    seen = described(name)
    text = " ".join((seen.description, *seen.ui_elements, *seen.navigation_path)).casefold()
    if seen.description.endswith("…"):
        pytest.skip("there is more text than a description holds")
    words = {word for line in lines_of(name) if line.score > 0.95 for word in line.text.casefold().split()}
    missing = {word for word in words if len(word) > 3 and word.isascii() and word.isalpha() and word not in text}
    assert missing == set()
