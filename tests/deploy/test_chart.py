"""The Helm chart, rendered by Helm's own library and held against Kubernetes' schemas, where both are installed."""

from pathlib import Path
from typing import Any

import pytest
import yaml

helm = pytest.importorskip("helm_python", reason="pip install helm-python-sdk")
kubernetes = pytest.importorskip("kubernetes_validate", reason="pip install kubernetes-validate")

CHART = Path(__file__).resolve().parents[2] / "deploy/chart"
KUBERNETES = "1.33"
GPU_NODE = {
    "name": "h100-run", "track": "nvidia-h100-cuda13.0", "stage": "run", "joinSecret": "join", "image": "gpu-node:1",
    "jobs": 8, "most": 4, "resources": {"limits": {"nvidia.com/gpu": 1}}, "nodeSelector": {"gpu": "h100"},
}  # fmt: skip


def rendered(**values: Any) -> list[dict[str, Any]]:
    texts = helm.Chart.load(str(CHART)).render(values=values, name="podium", namespace="boards")
    return [document for text in texts.values() for document in yaml.safe_load_all(text) if document]


ALL = rendered(
    backup={"claim": "backups"}, nodes=[GPU_NODE], s3Endpoint="https://s3.example.org", env={"PODIUM_SIGNUP": "open"}
)
PODS = [
    (document["metadata"]["name"], template["spec"])
    for document in ALL
    for template in [
        document["spec"].get("jobTemplate", document).get("spec", {}).get("template")
        or document["spec"].get("jobTargetRef", {}).get("template")
    ]
    if template
]
NODE = next(spec for name, spec in PODS if name == "podium-node-h100-run")


def named(kind: str) -> list[dict[str, Any]]:
    return [document for document in ALL if document["kind"] == kind]


def test_helm_finds_no_fault() -> None:
    assert helm.chart.lint(str(CHART))["errors"] == []


@pytest.mark.parametrize("document", ALL, ids=lambda one: f"{one['kind']}-{one['metadata']['name']}")
def test_kubernetes_knows_every_field(document: dict[str, Any]) -> None:
    if document["apiVersion"].startswith("keda.sh/"):  # KEDA's own; the pod inside is Kubernetes'
        if document["kind"] != "ScaledJob":
            return
        document = {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": document["metadata"],
            "spec": document["spec"]["jobTargetRef"],
        }  # fmt: skip
    kubernetes.validate(document, KUBERNETES, strict=True)


def test_these_are_all_pods() -> None:
    parts = ("backup", "migration", "node-h100-run", "nodes", "web", "worker")
    assert sorted(name for name, _ in PODS) == [f"podium-{part}" for part in parts]


@pytest.mark.parametrize(("name", "pod"), PODS)
def test_no_pod_has_rights_beyond_its_own(name: str, pod: dict[str, Any]) -> None:
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert {"hostNetwork", "hostPID", "hostIPC"}.isdisjoint(pod)
    assert not any("hostPath" in volume for volume in pod["volumes"])
    for container in [*pod["containers"], *pod.get("initContainers", [])]:
        rights = container["securityContext"]
        assert rights["capabilities"] == {"drop": ["ALL"]}
        assert (rights["allowPrivilegeEscalation"], rights["readOnlyRootFilesystem"]) == (False, True)
        assert "privileged" not in rights


def test_only_a_node_has_what_bubblewrap_needs() -> None:
    rights = NODE["containers"][0]["securityContext"]
    assert (NODE["hostUsers"], rights["procMount"], rights["appArmorProfile"]) == (
        False,
        "Unmasked",
        {"type": "Unconfined"},
    )
    assert rights["seccompProfile"]["type"] == "Localhost"
    others = [container for name, pod in PODS if pod is not NODE for container in pod["containers"]]
    assert others
    assert all("procMount" not in container["securityContext"] for container in others)


def test_a_node_knows_its_join_token_and_no_secret_of_the_site() -> None:
    secrets = {
        variable["valueFrom"]["secretKeyRef"]["name"]
        for variable in NODE["containers"][0]["env"]
        if "secretKeyRef" in variable.get("valueFrom", {})
    }
    assert secrets == {"join"}


def test_a_node_is_started_by_the_sites_own_count_and_ends_by_itself() -> None:
    [scaled] = named("ScaledJob")
    [trigger] = scaled["spec"]["triggers"]
    address = "http://podium-nodes.boards.svc:8000/metrics/jobs?track=nvidia-h100-cuda13.0&stage=run"
    assert trigger["metadata"]["url"] == address
    assert trigger["metadata"]["valueLocation"] == "open"
    assert NODE["containers"][0]["command"][:3] == ["podium", "node", "--until-idle"]
    assert NODE["restartPolicy"] == "Never"
    assert NODE["terminationGracePeriodSeconds"] > 300


def test_the_site_answers_to_the_name_by_which_the_count_is_asked() -> None:
    web = next(one for one in named("Deployment") if one["metadata"]["name"] == "podium-nodes")
    environment = web["spec"]["template"]["spec"]["containers"][0]["env"]
    [hosts] = [variable["value"] for variable in environment if variable["name"] == "PODIUM_ALLOWED_HOSTS"]
    assert "podium-nodes.boards.svc" in hosts.split(",")


def test_only_the_ingress_controller_and_keda_reach_the_site() -> None:
    closed, site = named("NetworkPolicy")
    assert "ingress" not in closed["spec"]
    [rule] = site["spec"]["ingress"]
    names = [one["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"] for one in rule["from"]]
    assert names == ["ingress-nginx", "keda"]


def test_without_a_store_that_pods_share_nothing_is_rendered() -> None:
    with pytest.raises(Exception, match="blobUrl is needed"):
        rendered(blobUrl="")
