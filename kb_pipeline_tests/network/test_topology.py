"""Walks: who fails with whom, and who only loses one of several ways."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.network.topology import Topology


def network(*edges: tuple[str, str, str]) -> Topology:
    names = sorted({end for source, target, _ in edges for end in (source, target)})
    vertices = pa.table(
        {"id": names, "type": ["T"] * len(names), "kind": ["infrastructure"] * len(names), "name": names}
    )
    rows = list(zip(*edges, strict=True))
    return Topology(
        vertices, pa.table({"source": rows[0], "target": rows[1], "label": ["x"] * len(edges), "needs": rows[2]})
    )


REDUNDANT = network(("path1", "link1", "all"), ("path2", "link2", "all"), ("vpn", "path1", "any"),
                    ("vpn", "path2", "any"), ("sla", "vpn", "all"))  # fmt: skip


def named(topology: Topology, numbers: dict[int, int]) -> set[str]:
    return {topology.ids[number] for number in numbers}


def test_a_service_with_a_living_second_path_is_weakened_and_not_down() -> None:
    failed, weakened = REDUNDANT.failing_with(REDUNDANT.numbers(["link1"]), 6)
    assert named(REDUNDANT, failed) == {"link1", "path1"}
    assert named(REDUNDANT, weakened) == {"vpn", "sla"}


def test_a_service_is_down_when_all_its_paths_are() -> None:
    failed, weakened = REDUNDANT.failing_with(REDUNDANT.numbers(["link1", "link2"]), 6)
    assert named(REDUNDANT, failed) == {"link1", "link2", "path1", "path2", "vpn", "sla"}
    assert not weakened


def test_a_way_leads_along_dependencies_only() -> None:
    number = REDUNDANT.number
    way = REDUNDANT.path(number["sla"], number["link2"], 6)
    assert [REDUNDANT.ids[each] for each in way] == ["sla", "vpn", "path2", "link2"]
    assert REDUNDANT.path(number["link2"], number["sla"], 6) == []


def test_walks_end_on_cycles() -> None:
    ring = network(("a", "b", "all"), ("b", "c", "all"), ("c", "a", "all"))
    assert named(ring, ring.upstream(0, 50)) == {"a", "b", "c"}
    assert named(ring, ring.failing_with([0], 50)[0]) == {"a", "b", "c"}


EDGES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.booleans()), min_size=1, max_size=30)


@given(EDGES, st.integers(0, 9))
def test_who_fails_is_what_following_each_edge_by_hand_gives(edges: list[tuple[int, int, bool]], root: int) -> None:
    """Whoever needs one that failed fails; whoever needs one of several fails when the last of them has failed."""
    needs = {(one, other): is_any for one, other, is_any in edges if one != other}
    if not needs or root not in {end for pair in needs for end in pair}:
        return
    there = network(*((f"v{one}", f"v{other}", "any" if is_any else "all") for (one, other), is_any in needs.items()))
    failed = {root}
    while True:
        more = {
            one
            for (one, other), is_any in needs.items()
            if other in failed and (not is_any or {b for (a, b), soft in needs.items() if a == one and soft} <= failed)
        }
        if more <= failed:
            break
        failed |= more
    down, weakened = there.failing_with(there.numbers([f"v{root}"]), 50)
    assert named(there, down) == {f"v{each}" for each in failed}
    assert not set(down) & set(weakened)
    touched = there.downstream(there.numbers([f"v{root}"]), 50)
    assert set(down) | set(weakened) <= set(touched)


def test_words_look_like_ids_by_how_ids_begin() -> None:
    names = ["LINK-A", "LINK-B", "CR_1", "plain"]
    there = network(*((name, "CR_1", "all") for name in names if name != "CR_1"))
    assert there.id_starts == {"LINK-", "CR_"}


def test_what_can_fail_stands_beside_each_other_where_the_field_site_is_the_same() -> None:
    names, sites = ["hub", "mast", "shop", "switch", "yard", "zone"], ["a", "b", "a", "a", "", None]
    kinds = ["service" if name == "shop" else "infrastructure" for name in names]
    vertices = pa.table({"id": names, "type": kinds, "kind": kinds, "name": names, "site": sites})
    edges = pa.table({"source": ["switch"], "target": ["hub"], "label": ["x"], "needs": ["all"]})
    placed = Topology(vertices, edges)
    beside = {name: {placed.ids[each] for each in placed.beside(placed.number[name]).tolist()} for name in names}
    assert beside["hub"] == beside["switch"] == {"hub", "switch"}
    assert [beside[name] for name in ("mast", "yard", "zone")] == [{"mast"}, {"yard"}, {"zone"}]


def test_without_the_field_site_everything_stands_alone() -> None:
    assert REDUNDANT.beside(REDUNDANT.number["vpn"]).tolist() == [REDUNDANT.number["vpn"]]
