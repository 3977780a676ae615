"""What is told of a query that failed, besides what DuckDB says."""

import pytest

from kb_pipeline.network.local.answers import advice_on

COLUMNS = {"alerts": ("alert_id", "severity"), "link_metrics": ("link_id", "latency_ms")}


@pytest.mark.parametrize(
    ("error", "query", "told"),
    [
        ('Referenced column "nme" not found', "SELECT nme FROM alerts", "columns of alerts are alert_id, severity;"),
        ('Referenced column "latency_ms" not found', "SELECT latency_ms FROM alerts", "a column of link_metrics;"),
        ('Referenced column "MAJOR" not found', "SELECT 1 FROM alerts WHERE severity = MAJOR", "such as 'MAJOR';"),
        ('"e" does not have a column named "x"', "SELECT e.x FROM Alerts e", "columns of alerts are"),
        (
            "UNNEST() can only be applied to lists",
            "FROM common_causes('a', 2)",
            "common_causes(['VPN-1', 'VPN-2'], 4);",
        ),
    ],
)
def test_the_right_names_are_told(error: str, query: str, told: str) -> None:
    advice = advice_on(error, query, COLUMNS)
    assert told in advice
    assert advice.endswith("check the names and ask again")


def test_of_what_nothing_more_is_known_nothing_more_is_told() -> None:
    assert advice_on("Conversion Error", "SELECT 1", COLUMNS) == "check the names and ask again"
