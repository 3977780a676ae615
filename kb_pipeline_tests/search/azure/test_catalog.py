"""The catalog on Azure AI Search keeps every promise of a catalog."""

from collections.abc import Callable
from functools import partial

import pytest

from kb_pipeline.errors import IndexMismatchError, SearchError
from kb_pipeline.search.azure.catalog import AliasPointer, AzureSearchCatalog
from kb_pipeline.search.catalog import LiveIndex
from kb_pipeline_tests.contracts.catalog_concurrency import CatalogConcurrencyContract
from kb_pipeline_tests.contracts.catalog_contract import G1, G2, G3, Catalogs, IndexCatalogContract, fill, live
from kb_pipeline_tests.search_service.definitions import Refused
from kb_pipeline_tests.search_service.fixtures import search_settings
from kb_pipeline_tests.search_service.running import RunningService


@pytest.fixture
def catalogs(fake: RunningService) -> Catalogs:
    return partial(AzureSearchCatalog, search_settings(fake.url))


class TestAzureSearchCatalog(IndexCatalogContract):
    pass


@pytest.mark.rare("the contract once more, of many processes")
class TestAzureSearchCatalogConcurrency(CatalogConcurrencyContract):
    pass


@pytest.mark.slow("many requests to the search's double")
class TestThroughTheContract(IndexCatalogContract):
    """Every request and every answer is checked by the contract proxy."""

    @pytest.fixture
    def catalogs(self, fake: RunningService, checked_url: str) -> Catalogs:
        return partial(AzureSearchCatalog, search_settings(checked_url))


# --- what others left in the service ---------------------------------------------------------------


def definition(name: str, description: str | None = None) -> dict[str, object]:
    return {"name": name, "description": description, "fields": [{"name": "id", "type": "Edm.String", "key": True}]}


def put(fake: RunningService, kind: str, **thing: object) -> None:
    fake.service.put(kind, str(thing["name"]), dict(thing), None, None)


def test_indexes_of_other_programs_are_left_alone(catalogs: Catalogs, fake: RunningService) -> None:
    fill(catalogs(), G1)
    ours = fake.service.indexes["kb-articles-g1"]["description"]
    for name, description in (("kb-articles-x", None), ("other", "about"), ("kb-articles-copy", ours)):
        put(fake, "indexes", **definition(name, description))
    assert catalogs().generations() == [G1]
    with pytest.raises(IndexMismatchError, match=r"kb-articles-x in .* another program.*KB_SEARCH_ALIAS"):
        catalogs().open(G1.model_copy(update={"id": "x"})).count()


@pytest.mark.parametrize("description", [None, "{}", "no JSON"])
def test_an_alias_of_another_program_is_refused_and_kept(
    catalogs: Catalogs,
    fake: RunningService,
    description: str | None,
) -> None:
    put(fake, "indexes", **definition("theirs", description))
    put(fake, "aliases", name="kb-articles", indexes=["theirs"])
    before = dict(fake.service.aliases["kb-articles"])
    for use in (catalogs().live, lambda: catalogs().switch(G1, at="now"), lambda: catalogs().drop("g1")):
        with pytest.raises(IndexMismatchError, match=r"alias kb-articles .* theirs, which another program made"):
            use()
    assert fake.service.aliases["kb-articles"] == before


def test_two_aliases_are_two_knowledge_bases(fake: RunningService) -> None:
    one, other = (AzureSearchCatalog(search_settings(fake.url, search_alias=alias)) for alias in ("kb", "kb-test"))
    fill(one, G1)
    one.switch(G1, at="now")
    assert (other.live(), other.generations(), other.open(G1).count()) == (None, [], 0)


def test_an_alias_that_was_moved_by_hand_is_followed(catalogs: Catalogs, fake: RunningService) -> None:
    fill(catalogs(), G1, G2)
    catalogs().switch(G1, at="1")
    put(fake, "aliases", name="kb-articles", indexes=["kb-articles-g2"])
    assert live(catalogs()) == LiveIndex(generation=G2, switched_at="")
    assert catalogs().switch(G1, at="2").previous == G2


def test_what_another_alias_names_is_not_dropped(catalogs: Catalogs, fake: RunningService) -> None:
    fill(catalogs(), G1)
    put(fake, "aliases", name="somebodys", indexes=["kb-articles-g1"])
    with pytest.raises(SearchError, match="keeps the index kb-articles-g1, because an alias names it"):
        catalogs().drop("g1")


class TestKilledSwitch:
    """A switch that got no further than the description of the index that was to become live."""

    @pytest.fixture
    def killed(self, catalogs: Catalogs, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(catalogs(), G1, G2, G3)
        catalogs().switch(G1, at="1")
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(AliasPointer, "move", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            catalogs().switch(G2, held="g1", at="2")

    @pytest.mark.usefixtures("killed")
    def test_changed_nothing(self, catalogs: Catalogs) -> None:
        assert live(catalogs()) == LiveIndex(generation=G1, switched_at="1")

    @pytest.mark.usefixtures("killed")
    def test_leaves_nothing_for_later_ones(self, catalogs: Catalogs) -> None:
        catalogs().switch(G3, at="3")
        assert catalogs().switch(G2, at="4") == LiveIndex(generation=G2, previous=G3, switched_at="4")


class TestRaces:
    """Something else is changed between a catalog's reading and its writing."""

    def between(
        self,
        monkeypatch: pytest.MonkeyPatch,
        method: str,
        others: Callable[[], object],
    ) -> None:
        original, left = getattr(AliasPointer, method), [others]

        def slow(pointer: AliasPointer, *given: object) -> object:
            if left:
                left.pop()()
            return original(pointer, *given)

        monkeypatch.setattr(AliasPointer, method, slow)

    @pytest.mark.parametrize("method", ["note", "move"])
    def test_a_switch_sees_the_one_that_was_faster(
        self,
        catalogs: Catalogs,
        monkeypatch: pytest.MonkeyPatch,
        method: str,
    ) -> None:
        fill(catalogs(), G1, G2, G3)
        catalogs().switch(G1, at="1")
        self.between(monkeypatch, method, lambda: catalogs().switch(G3, at="2"))
        assert catalogs().switch(G2, at="3") == LiveIndex(generation=G2, previous=G3, switched_at="3")
        assert live(catalogs()).previous == G3

    @pytest.mark.parametrize("method", ["note", "move"])
    def test_a_generation_that_is_dropped_meanwhile_does_not_go_live(
        self,
        catalogs: Catalogs,
        monkeypatch: pytest.MonkeyPatch,
        method: str,
    ) -> None:
        fill(catalogs(), G1, G2)
        catalogs().switch(G1, at="1")
        self.between(monkeypatch, method, lambda: catalogs().drop("g2"))
        with pytest.raises(SearchError, match="g2 has no entries"):
            catalogs().switch(G2, at="2")
        assert live(catalogs()).generation == G1

    def test_a_generation_that_goes_live_meanwhile_is_not_dropped(
        self,
        catalogs: Catalogs,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        fill(catalogs(), G1, G2)
        catalogs().switch(G1, at="1")
        catalogs().switch(G2, at="2")
        self.between(monkeypatch, "note", lambda: catalogs().switch(G1, at="3"))
        with pytest.raises(SearchError, match="g1 is live"):
            catalogs().drop("g1")
        assert live(catalogs()) == LiveIndex(generation=G1, previous=G2, switched_at="3")

    def test_an_answer_that_was_lost_is_no_change_by_others(
        self,
        catalogs: Catalogs,
        fake: RunningService,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The service did it, we never heard: the repeated request finds another ETag than it was to."""
        fill(catalogs(), G1, G2)
        catalogs().switch(G1, at="1")
        original = fake.service.put

        def forgetful(*given: object) -> int:
            original(*given)  # type: ignore[arg-type]
            monkeypatch.setattr(fake.service, "put", original)
            raise Refused(503, "the answer is lost")

        monkeypatch.setattr(fake.service, "put", forgetful)
        assert catalogs().switch(G2, at="2") == LiveIndex(generation=G2, previous=G1, switched_at="2")


def test_clearing_leaves_what_others_have_in_the_service(catalogs: Catalogs, fake: RunningService) -> None:
    fill(catalogs(), G1, G2)
    catalogs().switch(G1, at="1")
    ours = fake.service.indexes["kb-articles-g1"]["description"]
    for name, description in (("kb-articles-x", None), ("other", "about"), ("kb-articles-copy", ours)):
        put(fake, "indexes", **definition(name, description))
    put(fake, "aliases", name="their-alias", indexes=["other"])
    catalogs().clear()
    assert sorted(fake.service.indexes) == ["kb-articles-copy", "kb-articles-x", "other"]
    assert list(fake.service.aliases) == ["their-alias"]


def test_clearing_is_refused_where_the_alias_is_another_programs(catalogs: Catalogs, fake: RunningService) -> None:
    put(fake, "indexes", **definition("theirs"))
    put(fake, "aliases", name="kb-articles", indexes=["theirs"])
    with pytest.raises(IndexMismatchError, match="choose another KB_SEARCH_ALIAS"):
        catalogs().clear()
    assert (list(fake.service.indexes), list(fake.service.aliases)) == (["theirs"], ["kb-articles"])


def test_what_an_interrupted_clearing_left_is_cleared(catalogs: Catalogs, fake: RunningService) -> None:
    fill(catalogs(), G1, G2)
    catalogs().switch(G1, at="1")
    fake.service.delete("aliases", "kb-articles", None)
    fake.service.delete("indexes", "kb-articles-g1", None)
    assert catalogs().contents() == ["kb-articles-g2"]
    catalogs().clear()
    assert not fake.service.indexes
