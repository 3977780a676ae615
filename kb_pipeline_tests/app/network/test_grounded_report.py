"""A model's report is held to the network: elements that nothing has, and ways that are no edges, are marked."""

import pyarrow as pa
import pytest

from app.network.grounded_report import NOT_CONFIRMED, UNKNOWN_ELEMENT, ground_report
from kb_pipeline.network.topology import Topology

EDGES = [("VPN-ACME", "MPLS-1"), ("MPLS-1", "LINK-A"), ("LINK-A", "CORE_X"), ("VPN-BANK", "MPLS-2")]


@pytest.fixture(scope="module")
def network() -> Topology:
    names = sorted({name for edge in EDGES for name in edge})
    columns = {"id": names, "type": ["T"] * len(names), "kind": ["infrastructure"] * len(names), "name": names}
    sources, targets = zip(*EDGES, strict=True)
    needs = ["all"] * len(EDGES)
    return Topology(pa.table(columns), pa.table({"source": sources, "target": targets, "label": needs, "needs": needs}))


@pytest.mark.parametrize(
    "line",
    [
        "LINK-A ← MPLS-1 ← VPN-ACME",
        "VPN-ACME -> MPLS-1 -> LINK-A",
        "- **LINK-A** ← **MPLS-1** (MPLSPath) ← `VPN-ACME`.",
        "VPN-ACME depends on LINK-A, which failed.",
        r"LINK-A \<- MPLS-1, and CORE\_X works.",
        "LINK-A explains alerts of VPN-ACME, VPN-BANK and MPLS-2.",
        "VPN-based access is SLA-relevant; the link-state protocol converged (INC-2026-0341) [Ref #1].",
        "| LINK-A | VPN-BANK |",
        "",
    ],
)
def test_what_is_so_stays_as_it_is(network: Topology, line: str) -> None:
    assert ground_report(line, network) == line


@pytest.mark.parametrize(
    "line",
    [
        "LINK-A ← VPN-BANK",
        "LINK-A ← VPN-ACME",
        "**LINK-A** → **MPLS-2**",
        "MPLS-1 &lt;- MPLS-2",
        "VPN-BANK depends on LINK-A.",
        "LINK-A was caused by VPN-ACME.",
    ],
)
def test_a_way_that_is_none_is_marked(network: Topology, line: str) -> None:
    assert ground_report(f"First.\n{line}\nLast.", network) == f"First.\n{line} {NOT_CONFIRMED}\nLast."


def test_an_element_that_nothing_has_is_marked_wherever_it_stands(network: Topology) -> None:
    said = ground_report("**LINK-ZZ** failed, `VPN-9` as well; CORE_X works.", network)
    assert said == f"**LINK-ZZ** {UNKNOWN_ELEMENT} failed, `VPN-9` {UNKNOWN_ELEMENT} as well; CORE_X works."
    assert ground_report("LINK-A ← LINK-ZZ", network) == f"LINK-A ← LINK-ZZ {UNKNOWN_ELEMENT} {NOT_CONFIRMED}"


@pytest.mark.parametrize("text", ["a_" * 50_000 + "@", "A-" * 50_000, "LINK-A <" + "-" * 50_000, "(" * 50_000])
def test_a_hostile_text_is_read_to_its_end(network: Topology, text: str) -> None:
    assert ground_report(f"{text}\nLINK-A ← VPN-BANK", network).endswith(NOT_CONFIRMED)
