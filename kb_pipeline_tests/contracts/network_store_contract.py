"""What every store of a network promises, of the sample scenario. Subclasses give a store, and queries in its language.

``store``: a fixture with the opened store; beside it another network is kept, of which nothing is seen. Those that
answer SQL as well subclass :class:`TelemetryContract`.
"""

import asyncio
from collections.abc import Awaitable
from pathlib import Path
from typing import ClassVar, TypeVar

import pytest

from kb_pipeline.errors import QueryError, QueryFailedError, QueryRefusedError
from kb_pipeline.network.base import NetworkStore, QueryLimits, Rows, TopologyQuery
from kb_pipeline.network.local.store import subgraph
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.network.tables import read_tables
from kb_pipeline.network.topology import Topology

SAMPLE = ScenarioFolder(Path(__file__).parents[2] / "samples" / "scenarios" / "telco")
SERVICES = {"BB-MEL", "BB-SYD", "MOB-BNE", "VPN-ACME", "VPN-BANK", "VPN-MINE", "VPN-PORT", "VPN-RAIL"}
T = TypeVar("T")


def done(work: Awaitable[T]) -> T:
    async def waited() -> T:
        return await work

    return asyncio.run(waited())


class NetworkStoreContract:
    """Topology, graph queries, limits and refusals."""

    services: ClassVar[str]
    """A query for all services."""
    refused: ClassVar[tuple[str, ...]] = ()
    """Queries that no reader may ask."""

    @pytest.mark.parametrize(
        "wanted",
        [
            TopologyQuery(),
            TopologyQuery(types=("Service", "SLAPolicy")),
            TopologyQuery(text="syd"),
            TopologyQuery(around=("LINK-SYD-MEL",), depth=2, direction="down"),
            TopologyQuery(around=("VPN-ACME", "VPN-BANK"), depth=3, direction="up"),
            TopologyQuery(around=("AGG-SYD-01",), depth=1),
            TopologyQuery(limit=7),
        ],
        ids=str,
    )
    def test_the_topology_is_that_of_the_files(self, store: NetworkStore, wanted: TopologyQuery) -> None:
        tables = read_tables(SAMPLE)
        assert done(store.topology(wanted)) == subgraph(Topology(tables.vertices, tables.edges), wanted)

    def test_the_whole_has_50_vertices_of_8_types_and_54_edges_of_7(self, store: NetworkStore) -> None:
        whole = done(store.topology(TopologyQuery()))
        assert (len(whole.nodes), len({node["type"] for node in whole.nodes})) == (50, 8)
        assert (len(whole.edges), len({edge["type"] for edge in whole.edges})) == (54, 7)

    def test_an_element_that_there_is_not_is_named(self, store: NetworkStore) -> None:
        with pytest.raises(QueryFailedError, match="LINK-NOWHERE"):
            done(store.topology(TopologyQuery(around=("LINK-NOWHERE",))))

    def test_of_another_network_that_is_kept_beside_it_nothing_is_seen(self, store: NetworkStore) -> None:
        assert not done(store.topology(TopologyQuery(text="LEAF-2"))).nodes
        found = done(store.topology(TopologyQuery(text="VPN-ACME"))).nodes
        assert [each["type"] for each in found if each["id"] == "VPN-ACME"] == ["Service"]  # both have this id

    def test_a_query_of_the_graph_gives_rows_with_their_columns(self, store: NetworkStore) -> None:
        found = done(store.graph(self.services, QueryLimits()))
        assert {row["id"] for row in found.rows} == SERVICES
        assert {"id", "name", "kind"} <= {column["name"] for column in found.columns}
        assert not found.truncated

    def test_a_query_returns_as_many_rows_as_it_may_and_says_that_there_are_more(self, store: NetworkStore) -> None:
        found = done(store.graph(self.services, QueryLimits(rows=3)))
        assert (len(found.rows), found.truncated) == (3, True)

    def test_an_empty_query_is_refused_with_what_may_be_asked(self, store: NetworkStore) -> None:
        with pytest.raises(QueryRefusedError):
            done(store.graph(" ", QueryLimits()))

    def test_what_only_a_loader_may_do_is_refused_and_changes_nothing(self, store: NetworkStore) -> None:
        for query in self.refused:
            with pytest.raises(QueryError):
                done(store.graph(query, QueryLimits()))
        assert len(done(store.topology(TopologyQuery())).nodes) == 50

    def test_a_container_that_is_not_declared_is_refused_with_those_that_are(self, store: NetworkStore) -> None:
        with pytest.raises(QueryError, match="alerts"):
            done(store.telemetry("SELECT * FROM secrets", QueryLimits()))

    def test_health_tells_what_is_served(self, store: NetworkStore) -> None:
        health = done(store.health())
        assert (health.backend, health.scenario, health.vertices, health.edges) == (store.backend, "telco", 50, 54)
        assert health.version


class TelemetryContract:
    """The part of SQL that every database of telemetry answers, and in the same way."""

    def rows(self, store: NetworkStore, query: str, **limits: int) -> Rows:
        return done(store.telemetry(query, QueryLimits(**limits)))  # type: ignore[arg-type]

    def test_times_come_as_texts_in_order(self, store: NetworkStore) -> None:
        found = self.rows(store, "SELECT max(raised_at) AS newest, min(raised_at) AS oldest FROM alerts").rows
        assert found == [{"newest": "2026-11-02T03:45:40", "oldest": "2026-10-31T12:18:04"}]

    @pytest.mark.parametrize(
        ("since", "until"),
        [
            ("TIMESTAMP '2026-11-02 03:24:00'", "TIMESTAMP '2026-11-02 03:45:40'"),
            ("'2026-11-02T03:24:00Z'", "'2026-11-02T03:45:40Z'"),
            ("'2026-11-02 03:24:00'", "'2026-11-02T03:45:40'"),
        ],
    )
    def test_a_window_of_time_includes_both_ends(self, store: NetworkStore, since: str, until: str) -> None:
        query = f"SELECT raised_at FROM alerts WHERE raised_at BETWEEN {since} AND {until} ORDER BY raised_at"
        times = [row["raised_at"] for row in self.rows(store, query).rows]
        assert (len(times), times[0], times[-1]) == (10, "2026-11-02T03:24:00", "2026-11-02T03:45:40")
        assert times == sorted(times)

    def test_rows_are_ordered_by_all_their_columns(self, store: NetworkStore) -> None:
        found = self.rows(store, "SELECT source_id, alert_type FROM alerts ORDER BY ALL").rows
        assert found == sorted(found, key=lambda row: (row["source_id"], row["alert_type"])) and len(found) == 51

    def test_columns_may_be_named_with_their_container_or_its_alias(self, store: NetworkStore) -> None:
        plain, full, short = (
            self.rows(store, query).rows
            for query in (
                "SELECT source_id AS e FROM alerts WHERE severity = 'WARNING' ORDER BY alert_id",
                "SELECT alerts.source_id AS e FROM alerts WHERE alerts.severity = 'WARNING' ORDER BY alerts.alert_id",
                "SELECT a.source_id AS e FROM alerts a WHERE a.severity IN ('WARNING') ORDER BY a.alert_id",
            )
        )
        warned = ("AGG-MEL-01", "AGG-BNE-02", "AGG-ADL-02", "AGG-BNE-01")
        assert plain == full == short == [{"e": name} for name in warned]

    def test_columns_may_be_called_anything(self, store: NetworkStore) -> None:
        query = """SELECT source_id AS value, severity AS "order" FROM alerts WHERE alert_id = 'ALM-0001'"""
        assert self.rows(store, query).rows == [{"value": "MPLS-SYD-BNE-1", "order": "MAJOR"}]

    def test_measurements_are_counted_and_averaged(self, store: NetworkStore) -> None:
        query = "SELECT count(*) AS n, avg(latency_ms) AS mean FROM link_metrics WHERE link_id = 'LINK-SYD-MEL'"
        (row,) = self.rows(store, query).rows
        assert (row["n"], round(row["mean"], 6)) == (577, 8.977359)

    def test_what_is_empty_is_found(self, store: NetworkStore) -> None:
        found = self.rows(
            store, "SELECT alert_id, cleared_at FROM alerts WHERE cleared_at IS NULL ORDER BY alert_id LIMIT 2"
        )
        assert found.rows == [{"alert_id": name, "cleared_at": None} for name in ("ALM-0001", "ALM-0002")]
        assert self.rows(store, "SELECT alert_id FROM alerts WHERE cleared_at IS NOT NULL").rows == []

    def test_a_row_has_the_columns_of_its_file_and_no_others(self, store: NetworkStore) -> None:
        (row,) = self.rows(store, "SELECT * FROM link_metrics ORDER BY measured_at LIMIT 1").rows
        assert set(row) == {"measured_at", "link_id", "utilization_pct", "latency_ms", "packet_loss_pct",
                            "bit_error_rate", "optical_power_dbm"}  # fmt: skip

    def test_quotation_marks_belong_to_texts(self, store: NetworkStore) -> None:
        assert self.rows(store, "SELECT * FROM alerts WHERE message = 'it''s '' OR 1=1 --'").rows == []

    def test_more_rows_than_may_be_are_cut_and_said(self, store: NetworkStore) -> None:
        found = self.rows(store, "SELECT link_id FROM link_metrics", rows=5)
        assert (len(found.rows), found.truncated) == (5, True)
        assert self.rows(store, "SELECT link_id FROM link_metrics", bytes=200).truncated

    @pytest.mark.parametrize("query", ["SELECT sourceid FROM alerts", "SELECT * FROM alerts WHERE source = 'x'"])
    def test_a_column_that_there_is_not_is_told_with_the_nearest(self, store: NetworkStore, query: str) -> None:
        with pytest.raises(QueryFailedError, match="source_id"):
            self.rows(store, query)

    @pytest.mark.parametrize(
        "query",
        [
            "DELETE FROM alerts",
            "SELECT * FROM alerts; DELETE FROM alerts",
            "SELECT * FROM",
            "",
        ],
    )
    def test_what_is_no_single_select_is_refused(self, store: NetworkStore, query: str) -> None:
        with pytest.raises(QueryError):
            self.rows(store, query)
