"""Who may read in SharePoint may read here; what is not told is hidden from everybody."""

from pathlib import Path
from typing import Any

import pytest

from kb_pipeline.intake.sharepoint.permissions import Grant, grants_of
from kb_pipeline.records import HIDDEN
from kb_pipeline_tests.graph_service import TEAM, SharePoint, to_group, to_site_group, to_user
from kb_pipeline_tests.intake.sharepoint.conftest import ReadersOf, TakeIn, page_of
from kb_pipeline_tests.intake.sharepoint.test_source import PDF, TEXT, picture

ANN = "00000000-0000-0000-0000-000000000001"
BOB = "00000000-0000-0000-0000-000000000002"


def permission(**values: Any) -> dict[str, Any]:
    return {"id": "1", "roles": ["read"], "grantedToV2": {"user": {"id": ANN}}, **values}


@pytest.mark.parametrize(
    ("told", "meant"),
    [
        (permission(), {("user", ANN)}),
        (permission(roles=["owner"]), {("user", ANN)}),
        (permission(roles=["sp.limited access"]), set()),
        (permission(roles=[]), set()),
        (permission(expirationDateTime="2027-01-01T00:00:00Z"), set()),
        (permission(link={"scope": "anonymous", "type": "view"}), set()),
        (permission(link={"scope": "organization", "type": "edit"}), set()),
        (permission(grantedToV2=None, link={"scope": "users"}, grantedToIdentitiesV2=[{"user": {"id": ANN}},
                    {"user": {"id": BOB}}]), {("user", ANN), ("user", BOB)}),
        (permission(grantedToV2={"user": {"displayName": "A guest"}}), set()),
        (permission(grantedToV2={"application": {"id": "app"}}), set()),
        (permission(grantedToV2={"group": {"id": TEAM}}), {("group", TEAM)}),
        (permission(grantedToV2={"group": {"id": TEAM}, "siteUser": {"loginName": f"c:0o.c|provider|{TEAM}_o"}}),
         set()),
        (permission(grantedToV2={"group": {"id": TEAM}, "siteUser": {"loginName": f"c:0o.c|provider|{TEAM}"}}),
         {("group", TEAM)}),
        (permission(grantedToV2={"siteGroup": {"displayName": "Visitors", "id": "4"}}), {("site group", "Visitors")}),
        (permission(grantedToV2={"siteUser": {"displayName": "Everyone", "loginName": "c:0(.s|true"}}),
         {("site group", "Everyone")}),
        (permission(grantedToV2={"siteUser": {"displayName": "Visitors", "loginName": "i:0#.f|membership|x"}}), set()),
    ],
)  # fmt: skip
def test_only_who_is_surely_meant_may_read(told: dict[str, Any], meant: set[tuple[str, str]]) -> None:
    assert grants_of([told]) == {Grant(*each) for each in meant}  # type: ignore[arg-type]


def test_users_and_groups_are_named_by_their_ids(site: SharePoint, take_in: TakeIn, readers_of: ReadersOf) -> None:
    site.put("a.pdf", PDF)
    own = site.put("b.pdf", PDF)
    site.permissions[own] = [to_user(ANN), to_user(BOB), to_group(TEAM)]
    take_in()
    assert (readers_of("site-a"), readers_of("site-b")) == ([TEAM], [TEAM, ANN, BOB])


def test_a_group_of_the_site_is_hidden_until_somebody_says_who_that_is(
    site: SharePoint, take_in: TakeIn, readers_of: ReadersOf
) -> None:
    site.permissions["root-docs"] = [to_site_group("Visitors")]
    site.put("a.pdf", PDF)
    assert take_in().hidden == 1
    assert readers_of("site-a") == [HIDDEN]
    take_in(groups={"Visitors": ["staff", "guests"]})
    assert readers_of("site-a") == ["staff", "guests"]


def test_a_permission_that_changes_applies_though_the_file_is_the_same(
    site: SharePoint, take_in: TakeIn, readers_of: ReadersOf
) -> None:
    site.put("Folder/a.pdf", PDF)
    page = site.put_page("Start", "Start", TEXT)
    take_in()
    site.permissions["docs-Folder"] = site.permissions[page] = [to_user(ANN)]
    site.asked.clear()
    take_in()
    assert readers_of("site-folder-a") == readers_of("site-start") == [ANN]


def test_permissions_that_may_not_be_asked_hide_the_article(
    site: SharePoint, take_in: TakeIn, readers_of: ReadersOf
) -> None:
    site.unread = {site.put("a.pdf", PDF), "list-pages"}
    site.put_page("Start", "Start", TEXT)
    assert take_in(readers=["staff"]).hidden == 2
    assert readers_of("site-a") == readers_of("site-start") == [HIDDEN]


def test_declared_readers_stand_for_the_site_and_not_for_what_it_restricts(
    site: SharePoint, take_in: TakeIn, readers_of: ReadersOf
) -> None:
    site.put("a.pdf", PDF)
    more, fewer = site.put("more.pdf", PDF), site.put("fewer.pdf", PDF)
    site.permissions[more] = [to_group(TEAM), to_user(ANN)]
    site.permissions[fewer] = [to_user(ANN)]
    take_in(readers=["staff"])
    found = [readers_of(f"site-{name}") for name in ("a", "more", "fewer")]
    assert found == [["staff"], ["staff"], [ANN]]


def test_a_page_shows_no_picture_that_not_all_of_its_readers_may_see(
    site: SharePoint, take_in: TakeIn, staging: Path
) -> None:
    own = site.put("panel.png", b"secret", "assets")
    site.permissions[own] = [to_user(ANN)]
    site.put_page("Start", "Start", TEXT, picture("/sites/handbook/SiteAssets/panel.png"))
    take_in()
    assert not list((staging / "site-start").glob("*.png"))
    site.permissions[own] = [to_group(TEAM)]
    assert take_in().changed == ["site-start"]
    assert (staging / "site-start" / "panel.png").exists()
    site.permissions[own] = [to_user(ANN)]
    assert take_in().changed == ["site-start"]
    assert not list((staging / "site-start").glob("*.png"))
    assert "panel.png" in page_of(staging, "site-start")
