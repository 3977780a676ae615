"""The manifests in ``deploy/kubernetes`` hold together, and say to Dagster and Kubernetes what we mean."""

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dagster as dg
import kubernetes.client.models as k8s
import pytest
import yaml
from dagster._core.code_pointer import ModuleCodePointer
from dagster._core.launcher import LaunchRunContext
from dagster._core.origin import JobPythonOrigin, RepositoryPythonOrigin
from dagster_k8s.models import k8s_model_from_dict, k8s_snake_case_dict

import kb_pipeline
from kb_pipeline.settings import load_settings
from kb_pipeline_tests.deploy.files import DEPLOY, SETTINGS
from kb_pipeline_tests.kubernetes_api import Json, instance_config, kubernetes_api

VALUES: Json = yaml.safe_load((DEPLOY / "kubernetes/values.yaml").read_text())
CONFIG_MAP, VOLUME = yaml.safe_load_all((DEPLOY / "kubernetes/settings.yaml").read_text())
ANSWERING: list[Json] = list(yaml.safe_load_all((DEPLOY / "kubernetes/answering.yaml").read_text()))
CODE = VALUES["dagster-user-deployments"]["deployments"][0]
SECRET = re.compile(r"password|token|credential|(api|access|account).?key", re.IGNORECASE)


def leaves(value: Any, *path: str) -> Iterator[tuple[str, Any]]:
    """Every plain value with the keys that lead to it."""
    if not isinstance(value, dict | list):
        yield "/".join(path), value
        return
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(inner, *path, str(key))


def launch_on_kubernetes(folder: Path) -> Json:
    """Launch a run with the chart's run launcher; returns the Job that the cluster is asked for."""
    with (
        kubernetes_api(folder) as (kubeconfig, created),
        dg.instance_for_test(temp_dir=str(folder), overrides=instance_config(VALUES, kubeconfig)) as instance,
    ):
        from kb_pipeline.definitions import defs

        image = f"{CODE['image']['repository']}:{CODE['image']['tag']}"
        pointer = ModuleCodePointer("kb_pipeline.definitions", "defs")
        origin = JobPythonOrigin(
            "ingest_articles", RepositoryPythonOrigin("python", pointer, image, entry_point=["dagster"])
        )
        job = defs().resolve_job_def("ingest_articles")
        run = instance.create_run_for_job(job, job_code_origin=origin)
        instance.run_launcher.launch_run(LaunchRunContext(run, workspace=None))
    assert len(created) == 1
    return created[0]


def test_a_run_is_a_job_of_the_cluster_with_our_image_limits_and_volume(tmp_path: Path) -> None:
    job = launch_on_kubernetes(tmp_path)
    assert job["path"] == "/apis/batch/v1/namespaces/kb/jobs"
    pod = job["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert container["image"] == f"registry.example.internal/kb-pipeline:{kb_pipeline.__version__}"
    assert container["args"][:3] == ["dagster", "api", "execute_run"]
    assert container["resources"]["limits"] == {"memory": "4Gi"}
    assert {"name": "kb-data", "mountPath": "/data"}.items() <= container["volumeMounts"][-1].items()
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


def test_a_run_gets_its_secrets_from_the_cluster(tmp_path: Path) -> None:
    container = launch_on_kubernetes(tmp_path)["spec"]["template"]["spec"]["containers"][0]
    password = next(variable for variable in container["env"] if variable["name"] == "DAGSTER_PG_PASSWORD")
    assert password["valueFrom"]["secretKeyRef"] == {"name": "kb-postgresql", "key": "postgresql-password"}
    assert {"secretRef": {"name": "kb-secrets"}} in container["envFrom"]
    assert {"configMapRef": {"name": CONFIG_MAP["metadata"]["name"]}} in container["envFrom"]


def test_the_queue_has_our_limits(tmp_path: Path) -> None:
    with (
        kubernetes_api(tmp_path) as (kubeconfig, _),
        dg.instance_for_test(temp_dir=str(tmp_path), overrides=instance_config(VALUES, kubeconfig)) as instance,
    ):
        queue = instance.get_concurrency_config().run_queue_config
    assert queue
    assert queue.max_concurrent_runs == 4
    assert queue.tag_concurrency_limits == [{"key": "kb/source", "value": "sensor", "limit": 1}]
    assert VALUES["concurrency"]["enabled"] is True  # otherwise the chart leaves it all out


@pytest.mark.parametrize("path", sorted(DEPLOY.rglob("*.yaml")), ids=lambda path: path.name)
def test_no_manifest_holds_a_secret(path: Path) -> None:
    urls = re.findall(r"\S*://\S*", re.sub(r"#.*", "", path.read_text()))  # a URL could carry a password
    assert set(urls) <= {'"http://kb-agent:8088"}]'}
    for document in yaml.safe_load_all(path.read_text()):
        named = {name: value for name, value in leaves(document) if SECRET.search(name) and isinstance(value, str)}
        assert not named


def test_the_chart_makes_no_secret_of_its_own() -> None:
    assert VALUES["generatePostgresqlPasswordSecret"] is False
    assert VALUES["generateCeleryConfigSecret"] is False


def test_nothing_is_reached_from_outside_the_cluster() -> None:
    assert VALUES["dagsterWebserver"]["service"]["type"] == "ClusterIP"
    assert "ingress" not in VALUES
    assert {"ClusterIP"} == {value for name, value in leaves(VALUES) if name.endswith("service/type")}


@pytest.mark.parametrize(
    "pod", [CODE, VALUES["dagsterDaemon"], VALUES["dagsterWebserver"]], ids=["code", "daemon", "webserver"]
)
def test_pods_are_described_in_the_words_of_kubernetes(pod: Json) -> None:
    words = {
        "resources": k8s.V1ResourceRequirements,
        "securityContext": k8s.V1SecurityContext,
        "podSecurityContext": k8s.V1PodSecurityContext,
    }
    for name, model in words.items():
        k8s_model_from_dict(model, k8s_snake_case_dict(model, pod[name]))  # refuses what it does not know
    assert pod["podSecurityContext"]["runAsNonRoot"] is True
    assert pod["image"] == CODE["image"]
    for mount in pod.get("volumeMounts", []):
        assert mount["name"] in {volume["name"] for volume in pod["volumes"]}


@pytest.mark.parametrize("name", ["kb-agent", "kb-page"])
def test_agent_and_page_are_described_in_the_words_of_kubernetes(name: str) -> None:
    described = {document["kind"]: document for document in ANSWERING if document["metadata"]["name"] == name}
    deployment = k8s_model_from_dict(k8s.V1Deployment, k8s_snake_case_dict(k8s.V1Deployment, described["Deployment"]))
    service = k8s_model_from_dict(k8s.V1Service, k8s_snake_case_dict(k8s.V1Service, described["Service"]))
    (container,) = deployment.spec.template.spec.containers
    assert container.image == f"registry.example.internal/kb-app:{CODE['image']['tag']}"
    assert deployment.spec.template.spec.security_context.run_as_non_root
    assert service.spec.type == "ClusterIP"
    assert service.spec.selector == deployment.spec.template.metadata.labels
    assert service.spec.ports[0].port == container.ports[0].container_port
    assert {variable.name for variable in container.env} <= SETTINGS
    assert container.security_context.read_only_root_filesystem
    assert deployment.spec.template.spec.automount_service_account_token is False
    mounts = {mount.mount_path for mount in container.volume_mounts}
    assert mounts >= {"/tmp", "/home/kb"}
    assert {mount.name for mount in container.volume_mounts} == {v.name for v in deployment.spec.template.spec.volumes}


def test_neither_agent_nor_page_gets_the_secrets_of_the_pipeline() -> None:
    containers = [
        container
        for document in ANSWERING
        if document["kind"] == "Deployment"
        for container in document["spec"]["template"]["spec"]["containers"]
    ]
    given = {
        each["name"]: [source["secretRef"]["name"] for source in each["envFrom"] if "secretRef" in source]
        for each in containers
    }
    assert given == {"kb-agent": ["kb-agent-secrets"], "kb-page": []}


def test_the_agent_is_known_by_the_name_that_the_page_calls() -> None:
    (page,) = [
        document
        for document in ANSWERING
        if document["metadata"]["name"] == "kb-page" and "replicas" in document["spec"]
    ]
    (called,) = [each["value"] for each in page["spec"]["template"]["spec"]["containers"][0]["env"]]
    assert load_settings(allowed_hosts=CONFIG_MAP["data"]["KB_ALLOWED_HOSTS"]).allowed_hosts == (
        urlsplit(called).hostname,
    )
    assert VALUES["dagsterWebserver"]["envConfigMaps"] == [{"name": CONFIG_MAP["metadata"]["name"]}]


def test_the_settings_are_ours_and_the_volume_is_shared() -> None:
    assert {name for name in CONFIG_MAP["data"] if name.startswith("KB_")} <= SETTINGS
    claim = k8s_model_from_dict(k8s.V1PersistentVolumeClaim, k8s_snake_case_dict(k8s.V1PersistentVolumeClaim, VOLUME))
    assert claim.metadata.name == CODE["volumes"][0]["persistentVolumeClaim"]["claimName"]
    assert claim.spec.access_modes == ["ReadWriteMany"]


def test_the_image_and_the_chart_start_the_same_code_server() -> None:
    command = json.loads((DEPLOY / "pipeline.Dockerfile").read_text().rsplit("\nCMD ", 1)[1])
    assert command[-2:] == CODE["dagsterApiGrpcArgs"] == ["-m", "kb_pipeline.definitions"]
    assert command[command.index("-p") + 1] == str(CODE["port"])


def test_the_guide_names_the_chart_of_our_dagster_release() -> None:
    assert f"--version {version('dagster')}" in (DEPLOY / "README.md").read_text()
