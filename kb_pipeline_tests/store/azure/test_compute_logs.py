"""The part of dagster.yaml that keeps what runs print in Blob Storage: taken out of its comment, and tried."""

from pathlib import Path

import dagster as dg
import pytest
import yaml

from kb_pipeline_tests.azurite import KEY, NAME, Azurite
from kb_pipeline_tests.managed_identity import signed_in

CAPTURED = "LOGS_CAPTURED"
FILE = Path(__file__).parents[3] / "dagster.yaml"


def commented(*, with_key: bool) -> dict[str, object]:
    lines = FILE.read_text().splitlines()
    start = lines.index("# compute_logs:")
    block = lines[start : lines.index("", start)]
    other = "default_azure_credential" if with_key else "access_key_or_sas_token"
    kept = [line.removeprefix("# ") for line in block if other + ":" not in line]
    text = "\n".join(line.replace("# access_key", "access_key") for line in kept)
    loaded: dict[str, object] = yaml.safe_load(text)
    return loaded


@dg.op
def say() -> None:
    print("said by a run")


@dg.job(executor_def=dg.in_process_executor)
def saying() -> None:
    say()


@pytest.mark.slow("asks Azurite")
@pytest.mark.parametrize("with_key", [True, False], ids=["key", "identity"])
def test_what_a_run_prints_is_kept_in_the_container(
    public_azurite: Azurite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, with_key: bool
) -> None:
    container = public_azurite.container(f"logs-{'key' if with_key else 'identity'}")
    monkeypatch.setenv("KB_LOGS_ACCOUNT", NAME)
    monkeypatch.setenv("KB_LOGS_CONTAINER", container.container_name)
    monkeypatch.setenv("KB_LOGS_KEY", KEY)
    with signed_in(monkeypatch) as identity:
        with dg.instance_for_test(temp_dir=str(tmp_path), overrides=commented(with_key=with_key)) as instance:
            result = saying.execute_in_process(instance=instance)
            (log,) = [event.logs_captured_data for event in result.all_events if event.event_type_value == CAPTURED]
            shown = instance.compute_log_manager.get_log_data([result.run_id, "compute_logs", log.file_key])
        assert "said by a run" in (shown.stdout or b"").decode()
        assert set(identity.audiences) == (set() if with_key else {"https://storage.azure.com"})
    (name,) = [name for name in container.list_blob_names() if name.endswith(".out")]
    assert name.startswith(f"runs/storage/{result.run_id}/")
    assert b"said by a run" in container.download_blob(name).readall()
