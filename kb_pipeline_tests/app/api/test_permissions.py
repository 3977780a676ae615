"""What a caller may do beyond asking and reading, as they are told."""

import pytest

from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.api.conftest import Serve, signed_in


def test_whoever_uses_this_machine_may_do_all_but_hand_in_files_unless_that_is_on(serve: Serve, own: Settings) -> None:
    assert serve().get("/api/me").json() == {"may_review": True, "may_upload": False, "is_operator": True}
    with_uploads = serve(own.model_copy(update={"uploaders": ("local",)}))
    assert with_uploads.get("/api/me").json()["may_upload"]


@pytest.mark.parametrize(
    ("who", "groups", "may"),
    [
        ("ann", (), {"may_review": True, "may_upload": False, "is_operator": False}),
        ("bob", ("writers",), {"may_review": False, "may_upload": True, "is_operator": False}),
        ("eve", ("operations",), {"may_review": False, "may_upload": False, "is_operator": True}),
        ("joe", ("readers",), {"may_review": False, "may_upload": False, "is_operator": False}),
    ],
)
def test_people_who_sign_in_may_do_what_they_are_named_for(
    serve: Serve, own: Settings, who: str, groups: tuple[str, ...], may: dict[str, bool]
) -> None:
    named = own.model_copy(update={"reviewers": ("ann",), "uploaders": ("writers",)})
    client = serve(named, easy_auth=True, administrators=("operations",))
    assert client.get("/api/me", headers=signed_in(who, *groups)).json() == may
