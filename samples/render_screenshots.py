"""Renders the product's mock-ups into the screenshots of the sample articles.

    python samples/render_screenshots.py

Each shot is a mock-up page, or one element of it, as a PNG written to every article that shows it.
Needs Playwright, Debian's ``chromium`` and two fonts; no network. With the same Chromium and fonts
the bytes are the same each time. The articles' text is written by hand, not here.
"""

import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

SAMPLES = Path(__file__).resolve().parent
MOCKUPS = SAMPLES / "mockups"
STAGING = SAMPLES / "staging"
VIEWPORT_WIDTH, VIEWPORT_HEIGHT = 1120, 680
MAX_BYTES = 80_000
FONTS = ("Inter", "DejaVu Sans Mono")
INSTALL = "apt-get install --no-install-recommends chromium fontconfig fonts-inter fonts-dejavu-core"
CHROMIUM_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
)


@dataclass(frozen=True)
class Shot:
    """One picture: ``selector`` of ``page`` (or the whole page), for each of ``articles``.

    ``page`` may end in a fragment, which opens the pop-up of that id.
    """

    name: str
    page: str
    articles: tuple[str, ...]
    selector: str | None = None
    transparent: bool = False


def symbol(name: str, selector: str, *articles: str) -> Shot:
    """The logo, or an icon of 20 x 20 pixels, on a transparent ground."""
    return Shot(name, "icons.html", articles, selector, transparent=True)


WITH_LOGO = (
    "ticket-list-and-views",
    "canned-responses",
    "automation-rules",
    "sla-policies",
    "connect-an-email-channel",
    "users-and-permissions",
    "report-dashboard",
    "write-an-article",
)

SHOTS = (
    Shot("ticket-list", "ticket-list.html", ("ticket-list-and-views",)),
    Shot("ticket-list-filters", "ticket-list.html#filters", ("ticket-list-and-views",), "#filters"),
    Shot("save-view", "ticket-list.html#save-view", ("ticket-list-and-views",), "#save-view .panel"),
    Shot("ticket-detail", "ticket-detail.html", ("ticket-list-and-views", "canned-responses")),
    Shot("canned-response-picker", "ticket-detail.html#picker", ("canned-responses",)),
    Shot("canned-responses", "canned-responses.html", ("canned-responses",)),
    Shot("automation-rules", "automation-rules.html", ("automation-rules",)),
    Shot("rule-editor", "automation-rule-editor.html", ("automation-rules",)),
    Shot("rule-conditions", "automation-rule-editor.html", ("automation-rules",), "#conditions"),
    Shot("rule-test", "automation-rule-editor.html#test", ("automation-rules",), "#test .panel"),
    Shot("settings-navigation", "sla-policy.html", ("sla-policies", "automation-rules"), "settings-nav div"),
    Shot("sla-policy", "sla-policy.html", ("sla-policies",)),
    Shot("sla-reminders", "sla-policy.html", ("sla-policies",), "#reminders"),
    Shot("business-hours", "business-hours.html", ("sla-policies",)),
    Shot("email-address", "email-channel.html#address", ("connect-an-email-channel",)),
    Shot("email-dns-records", "email-channel.html#domain", ("connect-an-email-channel",), "#records"),
    Shot("email-addresses", "email-channel.html#connected", ("connect-an-email-channel",), "#addresses"),
    Shot("users-and-teams", "users.html", ("users-and-permissions",)),
    Shot("edit-permissions", "users.html#permissions", ("users-and-permissions",)),
    Shot("support-overview", "reports.html", ("report-dashboard",)),
    Shot("ticket-volume", "reports.html", ("report-dashboard",), "#volume"),
    Shot("schedule-report", "reports.html#schedule", ("report-dashboard",), "#schedule .panel"),
    Shot("webhook", "webhook.html", ("webhooks",)),
    Shot("webhook-deliveries", "webhook.html", ("webhooks",), "#deliveries"),
    Shot("knowledge-editor", "knowledge-editor.html", ("write-an-article",)),
    Shot("publishing-panel", "knowledge-editor.html", ("write-an-article",), "#publishing"),
    symbol("icon-filter", "#filter", "ticket-list-and-views"),
    symbol("icon-bookmark", "#bookmark", "ticket-list-and-views"),
    symbol("icon-more", "#more", "ticket-list-and-views", "users-and-permissions"),
    symbol("icon-drag", "#drag", "automation-rules"),
    symbol("icon-trash", "#trash", "automation-rules"),
    symbol("icon-copy", "#copy", "connect-an-email-channel"),
    symbol("icon-refresh", "#refresh", "connect-an-email-channel", "webhooks"),
    symbol("icon-bolt", "#bolt", "canned-responses"),
    symbol("icon-download", "#download", "report-dashboard"),
    symbol("icon-eye", "#eye", "write-an-article"),
    # page furniture, which is no content
    symbol("logo", "wrendesk-logo", *WITH_LOGO),
    symbol("prev", "#left", "report-dashboard"),
    symbol("next", "#right", "report-dashboard"),
    symbol("up", "#up", "report-dashboard"),
    symbol("home", "#home", "report-dashboard"),
    symbol("note", "#info", "report-dashboard", "webhooks"),
    symbol("tip", "#bulb", "report-dashboard"),
    symbol("warning", "#warning", "webhooks"),
)


def find_chromium() -> str:
    """The path of the system's Chromium; leaves the program if it or a font of the mock-ups is missing."""
    chromium, font_list = shutil.which("chromium"), shutil.which("fc-list")
    if chromium and font_list:
        families = subprocess.run([font_list, ":", "family"], capture_output=True, text=True, check=True).stdout
        if all(font in families for font in FONTS):
            return chromium
    sys.exit(f"Chromium and the fonts {', '.join(FONTS)} are needed; run: {INSTALL}")


@contextmanager
def browser_page() -> Iterator[Page]:
    """A page of Chromium, without animations and at one device pixel per CSS pixel."""
    chromium = find_chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(CHROMIUM_FLAGS))
        try:
            yield browser.new_page(
                viewport={"width": VIEWPORT_WIDTH, "height": VIEWPORT_HEIGHT},
                device_scale_factor=1,
                reduced_motion="reduce",
                offline=True,
            )
        finally:
            browser.close()


def take(page: Page, shot: Shot) -> bytes:
    """The shot as Chromium's PNG: RGB, or RGBA if it is transparent."""
    file, _, fragment = shot.page.partition("#")
    page.goto("about:blank")  # a change of the fragment alone would not load the page again
    page.goto(f"{(MOCKUPS / file).as_uri()}#{fragment}")
    page.evaluate("document.fonts.ready")
    if shot.selector is None:
        return page.screenshot(full_page=True)
    return page.locator(shot.selector).screenshot(omit_background=shot.transparent)


def compact(png: bytes) -> bytes:
    """An opaque picture with 256 colours: a third of the size, and the same to the eye.

    Maximum coverage keeps the rare colours of badges, k-means the exact ones of large areas.
    """
    small = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        opaque = image.mode == "RGB"
        reduced = image.quantize(method=Image.Quantize.MAXCOVERAGE, kmeans=1) if opaque else image
        reduced.save(small, "PNG", optimize=True)
    return small.getvalue()


def publish(shot: Shot, png: bytes) -> None:
    """Write the picture into its articles' folders.

    Raises:
        ValueError: the picture is larger than a sample should be.
    """
    if len(png) > MAX_BYTES:
        raise ValueError(f"{shot.name} has {len(png):,} bytes, more than {MAX_BYTES:,}: show less of {shot.page}")
    for article in shot.articles:
        target = STAGING / article / f"{shot.name}.image"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(png)
    print(f"{shot.name:28} {len(png):>7,} bytes  {', '.join(shot.articles)}")


def main() -> None:
    """Render every shot."""
    with browser_page() as page:
        for shot in SHOTS:
            publish(shot, compact(take(page, shot)))


if __name__ == "__main__":
    main()
