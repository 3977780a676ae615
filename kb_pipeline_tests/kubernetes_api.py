"""What ``deploy/kubernetes/values.yaml`` becomes in a cluster: Dagster's instance, and the Jobs it asks for."""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

Json = dict[str, Any]


@contextmanager
def kubernetes_api(folder: Path) -> Iterator[tuple[Path, list[Json]]]:
    """A server that accepts every object; yields a kubeconfig that leads to it, and what it was sent."""
    created: list[Json] = []

    class Accept(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            created.append({"path": self.path, **json.loads(body)})
            self.send_response(201)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Accept)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield _kubeconfig(folder, f"http://127.0.0.1:{server.server_port}"), created
    finally:
        server.shutdown()
        server.server_close()


def instance_config(values: Json, kubeconfig: Path) -> Json:
    """The ``dagster.yaml`` that the chart writes from its values, but for the storage and the way to the cluster."""
    launcher = dict(values["runLauncher"]["config"]["k8sRunLauncher"])
    for names in ("envConfigMaps", "envSecrets"):
        launcher[names] = [source["name"] for source in launcher[names]]
    launcher["runK8sConfig"] = _snake_case(launcher["runK8sConfig"])
    cluster = {
        "load_incluster_config": False,
        "kubeconfig_file": str(kubeconfig),
        "job_namespace": "kb",
        "service_account_name": "dagster",
        "dagster_home": "/opt/dagster/dagster_home",
        "instance_config_map": "dagster-instance",
        "postgres_password_secret": values["global"]["postgresqlSecretName"],
    }
    daemon, concurrency, retention = values["dagsterDaemon"], values["concurrency"], values["retention"]
    return {
        "run_launcher": {
            "module": "dagster_k8s",
            "class": values["runLauncher"]["type"],
            "config": _snake_case(launcher) | cluster,
        },
        "run_coordinator": {"module": "dagster._core.run_coordinator", "class": daemon["runCoordinator"]["type"]},
        "run_monitoring": _snake_case(daemon["runMonitoring"]),
        "concurrency": {"runs": _snake_case(concurrency["runs"]), "pools": _snake_case(concurrency["pools"])},
        "retention": {name: _snake_case(retention[name]) for name in ("schedule", "sensor")},
        "telemetry": values["telemetry"],
    }


def _kubeconfig(folder: Path, url: str) -> Path:
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "test",
        "clusters": [{"name": "test", "cluster": {"server": url}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "users": [{"name": "test", "user": {}}],
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return path


def _snake_case(values: Json) -> Json:
    return {re.sub("([A-Z])", r"_\1", name).lower(): value for name, value in values.items()}
