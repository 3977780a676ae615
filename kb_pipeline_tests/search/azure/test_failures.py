"""What goes wrong between us and Azure AI Search: nothing is lost or doubled, and the error says what to do."""

import multiprocessing
import pickle
import socket
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse

from kb_pipeline.errors import (
    IndexMissingError,
    MissingExtraError,
    SearchError,
    ServiceRefusedError,
    SettingsError,
    TransientError,
)
from kb_pipeline.search.azure import publish
from kb_pipeline.search.azure.catalog import AzureSearchCatalog
from kb_pipeline.search.azure.publish import MOST_DOCUMENTS, Publisher
from kb_pipeline.search.azure.service import SearchBusyError, SearchService
from kb_pipeline.search.base import SearchFilter, SearchIndex
from kb_pipeline.search.catalog import index_name
from kb_pipeline_tests.app.model_servers import OwnModel
from kb_pipeline_tests.contracts.catalog_contract import G1
from kb_pipeline_tests.contracts.search_contract import Opener
from kb_pipeline_tests.contracts.search_samples import article, embed, entry, hashes
from kb_pipeline_tests.managed_identity import ManagedIdentity
from kb_pipeline_tests.search_service import documents as fake_documents
from kb_pipeline_tests.search_service.app import ADMIN_KEY, QUERY_KEY
from kb_pipeline_tests.search_service.fixtures import open_generation, search_settings
from kb_pipeline_tests.search_service.running import RunningService

INDEX = index_name("g1")


@pytest.fixture
def opened(fake: RunningService) -> Opener:
    return partial(open_generation, search_settings(fake.url))


@pytest.fixture
def index(opened: Opener) -> SearchIndex:
    return opened()


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "_LONGEST_PAUSE", 0.02)


class TestBusyService:
    def test_what_is_throttled_is_sent_again(self, index: SearchIndex, fake: RunningService) -> None:
        fake.faults.coming.extend([("search.index", 503, {"Retry-After": "0"}), ("search.index", 429, {})])
        index.publish(article("a", "apple"))
        assert index.count() == 1

    def test_a_long_pause_is_left_to_who_waits_for_all_articles(self, index: SearchIndex, fake: RunningService) -> None:
        index.publish(article("a", "apple"))
        fake.faults.coming.append(("search.index", 429, {"Retry-After": "120"}))
        with pytest.raises(TransientError, match=r"busy \(429\).*try again") as caught:
            index.publish(article("b", "apple"))
        assert isinstance(caught.value, SearchError)
        assert caught.value.retry_after == 120

    @pytest.mark.parametrize("asked", ["soon", "-5", "²", ""])
    def test_a_pause_that_cannot_be_read_is_none(self, index: SearchIndex, fake: RunningService, asked: str) -> None:
        fake.faults.coming.append(("search.index", 429, {"Retry-After": asked}))
        index.publish(article("a", "apple"))
        assert index.count() == 1

    def test_many_readers_and_writers_lose_nothing_to_throttling(self, opened: Opener, fake: RunningService) -> None:
        fake.faults.share, fake.faults.retry_after = 0.1, "0.01"
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda number: opened().publish(article(f"a{number}", "apple", "pear")), range(24)))
        fake.faults.share = 0
        assert opened().count() == 48
        assert len(opened().entries()) == 24

    def test_what_stays_busy_is_an_error_that_may_pass(self, index: SearchIndex, fake: RunningService) -> None:
        fake.faults.share = 1.0
        with pytest.raises(TransientError, match=r"Azure AI Search at http://127\S+ is busy \(503\)"):
            index.publish(article("a", "apple"))


class TestPartialFailure:
    """A batch of which some documents are taken and others not: 207, which is no error of HTTP."""

    def test_only_what_failed_is_sent_again(self, index: SearchIndex, fake: RunningService) -> None:
        index.publish(article("other", "x"))
        one, two = (entry("a", text, number) for number, text in enumerate(("apple", "pear")))
        fake.service.rejections[two.chunk.id] = [503, 422, 409]
        index.publish({"a": [one, two]})
        assert index.entries()["a"] == hashes([one, two])
        assert fake.app.counts["POST indexes/docs/search.index"] == 1 + 4

    def test_a_document_that_is_never_taken_is_named(self, index: SearchIndex, fake: RunningService) -> None:
        bad = entry("a", "pear", 1)
        fake.service.rejections[bad.chunk.id] = [400]
        with pytest.raises(SearchError, match=rf"kb-articles-g1 .* refused document {bad.chunk.id} \(400\): not now"):
            index.publish({"a": [entry("a", "apple"), bad]})

    @pytest.mark.slow("many requests to the search's double")
    @pytest.mark.usefixtures("no_pauses")
    def test_one_that_is_never_ready_is_an_error_that_may_pass(self, index: SearchIndex, fake: RunningService) -> None:
        fake.service.rejections[entry("a", "apple").chunk.id] = [503] * 100
        with pytest.raises(SearchBusyError, match=r"did not upload 1 document in 6 tries \(503\)"):
            index.publish(article("a", "apple"))

    def test_deletions_are_looked_at_as_well(self, index: SearchIndex, fake: RunningService) -> None:
        index.publish(article("a", "apple", "pear"))
        fake.service.rejections[entry("a", "pear", 1).chunk.id] = [503]
        index.publish(article("a", "apple"))
        assert index.count() == 1


class TestKilled:
    """A process that dies between uploading what is new and deleting what is gone."""

    @pytest.fixture
    def killed(self, opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
        opened().publish(article("a", "apple one", "apple two", "apple three") | article("b", "apple"))
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(publish.Publisher, "_delete", _die)
            opened().publish(article("a", "apple new"))

    @pytest.mark.usefixtures("killed")
    def test_readers_of_the_article_find_what_is_new(self, index: SearchIndex) -> None:
        hits = index.search("apple", embed("apple"), top=50)
        assert {hit.chunk.content for hit in hits} == {"apple new", "apple"}

    @pytest.mark.usefixtures("killed")
    def test_reconciling_sees_what_is_left(self, index: SearchIndex) -> None:
        assert len(index.entries(["a"])["a"]) == 3

    @pytest.mark.usefixtures("killed")
    def test_the_next_publication_heals_it(self, index: SearchIndex) -> None:
        index.publish(article("a", "apple new"))
        assert index.entries(["a"]) == {"a": hashes(article("a", "apple new")["a"])}

    @pytest.mark.usefixtures("killed")
    def test_so_does_removing_the_article(self, index: SearchIndex) -> None:
        index.remove(["a"])
        assert index.entries().keys() == {"b"}


class TestSlowToShow:
    """Documents are found some time after they were taken, one after the other."""

    def test_publishing_ends_when_readers_find_it(self, index: SearchIndex, fake: RunningService) -> None:
        fake.service.delay = 0.15
        index.publish(article("a", "apple", "pear"))
        index.publish(article("a", "apple"))
        assert index.entries() == {"a": hashes(article("a", "apple")["a"])}

    def test_what_is_never_shown_is_an_error(
        self, index: SearchIndex, fake: RunningService, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(publish, "_PATIENCE", 0.1)
        fake.service.delay = 1000
        with pytest.raises(SearchBusyError, match="does not show after"):
            index.publish(article("a", "apple"))

    def test_no_reader_finds_two_editions_of_an_article(self, opened: Opener, fake: RunningService) -> None:
        fake.service.step = 0.005
        seen: list[set[str]] = []
        done = threading.Event()

        def read() -> None:
            while not done.is_set():
                seen.append({hit.chunk.content.split()[1] for hit in opened().search("apple", mode="keyword", top=50)})

        opened().publish(article("a", *(f"apple e0 {i}" for i in range(5))))
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(read)
            for number, size in enumerate((8, 3, 6, 2), 1):
                opened().publish(article("a", *(f"apple e{number} {i}" for i in range(size))))
            done.set()
            reading.result()
        assert all(len(editions) == 1 for editions in seen)
        assert len(set.union(*seen)) > 2


class TestSize:
    def test_a_batch_that_is_too_large_after_all_is_divided(
        self, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("kb_pipeline_tests.search_service.service._MOST_BYTES", 20_000)
        index.publish(article("a", *(f"apple {i} {'x' * 500}" for i in range(40))))
        assert index.count() == 40

    def test_a_document_that_is_too_large_is_refused(self, index: SearchIndex, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("kb_pipeline_tests.search_service.service._MOST_BYTES", 5_000)
        with pytest.raises(SearchError, match="413"):
            index.publish(article("a", "x" * 10_000))

    @pytest.mark.slow("many requests to the search's double")
    def test_an_article_of_more_chunks_than_a_batch_takes(self, index: SearchIndex) -> None:
        index.publish(whole := article("a", *(f"apple {i}" for i in range(MOST_DOCUMENTS + 200))))
        assert index.entries() == {"a": hashes(whole["a"])}
        index.publish(article("a", "apple"))
        assert index.count() == 1

    def test_headings_longer_than_a_term_are_filtered_by(self, index: SearchIndex) -> None:
        index.publish({"a": [long := entry("a", "apple", section_header="h" * (fake_documents._LONGEST_TERM + 1))]})
        filters = SearchFilter(section_header=long.chunk.section_header)
        (hit,) = index.search("apple", mode="keyword", filters=filters)
        assert hit.chunk == long.chunk


class TestCredentials:
    @pytest.mark.parametrize(("key", "says"), [("wrong", "403"), (QUERY_KEY, "403")])
    def test_a_key_that_is_refused_names_setting_and_role(self, fake: RunningService, key: str, says: str) -> None:
        index = open_generation(search_settings(fake.url, search_api_key=key))
        with pytest.raises(ServiceRefusedError, match=rf"{says}.*KB_SEARCH_API_KEY.*Search Index Data Contr") as caught:
            index.publish(article("a", "apple"))
        assert isinstance(caught.value, SearchError)

    def test_no_key_is_in_any_message_or_trace(self, fake: RunningService) -> None:
        settings = search_settings(fake.url, search_api_key="wrong-key-that-is-secret")
        index = open_generation(settings)
        with pytest.raises(SearchError) as caught:
            index.count()
        shown = "".join(traceback.format_exception(caught.value)) + repr(settings) + repr(vars(index))
        assert "wrong-key-that-is-secret" not in shown

    @pytest.mark.parametrize("key", ["new\nline", "ünï", "two words"])
    def test_a_key_that_cannot_be_one_is_refused_unquoted(self, key: str) -> None:
        with pytest.raises(SettingsError, match="KB_SEARCH_API_KEY holds characters") as caught:
            SearchService(search_settings("https://x.search.windows.net", search_api_key=key))
        assert key not in str(caught.value)

    def test_white_space_around_a_key_does_no_harm(self, fake: RunningService) -> None:
        open_generation(search_settings(fake.url, search_api_key=f" {ADMIN_KEY}\n")).publish(article("a", "apple"))

    def test_without_a_key_an_identity_signs(self, fake: RunningService, managed_identity: ManagedIdentity) -> None:
        fake.app.identity = managed_identity
        open_generation(search_settings(fake.url, search_api_key=None)).publish(article("a", "apple"))
        assert set(managed_identity.audiences) == {"https://search.azure.com"}

    def test_a_token_that_is_refused_names_setting_and_role(
        self, fake: RunningService, managed_identity: ManagedIdentity
    ) -> None:
        fake.app.identity = None
        with pytest.raises(ServiceRefusedError, match=r"\(401\).*KB_SEARCH_API_KEY.*role Search Index") as caught:
            open_generation(search_settings(fake.url, search_api_key=None)).count()
        assert isinstance(caught.value, SearchError)
        shown = "".join(traceback.format_exception(caught.value))
        assert not any(token in shown for token in managed_identity.tokens)


class TestAway:
    def test_a_refused_connection_names_the_setting(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(SearchBusyError, match=r"cannot be reached.*KB_SEARCH_ENDPOINT"):
            open_generation(search_settings(url)).count()

    def test_a_service_that_says_nothing_is_not_waited_for_long(self, fake: RunningService) -> None:
        fake.faults.latency = 1.0
        with pytest.raises(SearchBusyError, match=r"did not answer within 0.1 s.*KB_SERVICE_TIMEOUT_SECONDS"):
            open_generation(search_settings(fake.url, service_timeout_seconds=0.1)).count()

    @pytest.mark.parametrize("body", ["<html>Sign in</html>", "", "null", "[1]"])
    def test_what_is_no_answer_of_the_service_names_the_setting(self, body: str) -> None:
        with OwnModel(lambda *_: HTMLResponse(body)) as other:
            catalog = AzureSearchCatalog(search_settings(other.url))
            with pytest.raises(SearchError, match=r"cannot be read.*check KB_SEARCH_ENDPOINT"):
                catalog.generations()
            with pytest.raises(SearchError, match=r"cannot be read.*check KB_SEARCH_ENDPOINT"):
                Publisher(SearchService(search_settings(other.url)), INDEX, G1).replace(article("a", "apple"))

    def test_a_redirect_is_not_followed_with_our_key(self) -> None:
        with OwnModel(lambda *_: JSONResponse({"value": []})) as elsewhere:
            with OwnModel(lambda *_: RedirectResponse(elsewhere.url)) as other, pytest.raises(SearchError, match="307"):
                AzureSearchCatalog(search_settings(other.url)).generations()
            assert not elsewhere.seen

    def test_an_index_that_is_deleted_behind_us_is_missing(self, opened: Opener, fake: RunningService) -> None:
        index = opened()
        index.publish(article("a", "apple"))
        fake.service.delete("indexes", INDEX, None)
        with pytest.raises(IndexMissingError, match=r"kb-articles-g1 .*run: kb ingest"):
            index.search("apple", mode="keyword")
        assert index.count() == 0
        index.publish(article("a", "apple"))
        assert index.count() == 1


class TestSettings:
    @pytest.mark.parametrize(
        ("endpoint", "says"),
        [
            (None, "set KB_SEARCH_ENDPOINT"),
            ("x.search.windows.net", "must begin with https"),
            ("ftp://x", "must begin with https"),
            ("https://", "must begin with https"),
            ("https://[", "must begin with https"),
            ("https://x:secret", "must begin with https"),
            ("https://x y", "must begin with https"),
            ("http://x.example", "must begin with https"),
        ],
    )
    def test_an_endpoint_that_cannot_be_one_is_refused_before_anything_is_sent(
        self, endpoint: str | None, says: str
    ) -> None:
        with pytest.raises(SettingsError, match=says) as caught:
            AzureSearchCatalog(search_settings(endpoint))  # type: ignore[arg-type]
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize("alias", ["", "KB", "kb_articles", "-kb", "kb-", "x" * 120, "k/b"])
    def test_an_alias_that_no_index_could_be_named_after_is_refused(self, alias: str) -> None:
        with pytest.raises(SettingsError, match="KB_SEARCH_ALIAS"):
            AzureSearchCatalog(search_settings("https://x.search.windows.net", search_alias=alias))

    def test_without_the_sdk_the_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "azure.search.documents", None)
        with pytest.raises(MissingExtraError, match=r"kb-pipeline\[azure\]"):
            AzureSearchCatalog(search_settings("https://x.search.windows.net"))

    def test_a_catalog_that_was_used_travels_to_other_processes(self, fake: RunningService) -> None:
        catalog = AzureSearchCatalog(search_settings(fake.url))
        catalog.open(G1).publish(article("a", "apple"))
        assert pickle.loads(pickle.dumps(catalog)).open(G1).count() == 1
        assert ADMIN_KEY not in repr(catalog)

    @pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no processes are forked here")
    def test_processes_that_are_forked_do_not_share_connections(self, fake: RunningService) -> None:
        service = SearchService(search_settings(fake.url))
        shares = multiprocessing.get_context("fork").Process(target=_shares, args=(service, service.documents(INDEX)))
        shares.start()
        shares.join(20)
        assert shares.exitcode == 0

    def test_errors_travel_between_processes(self) -> None:
        error = pickle.loads(pickle.dumps(SearchBusyError("busy", 3.0)))
        assert (type(error), str(error), error.retry_after) == (SearchBusyError, "busy", 3.0)


def _shares(service: SearchService, client: object) -> None:
    sys.exit(service.documents(INDEX) is client)


def _die(*_: object) -> None:
    raise KeyboardInterrupt
