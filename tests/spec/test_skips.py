"""A problem is skipped where the machine lacks what it asks for, with a reason in words."""

import pytest

from problems.spec.command.skips import compute_eval_skip, track_skip
from problems.spec.hardware import Hardware, is_datacenter, parse_nvidia_smi
from problems.spec.profile import Profile
from tests.formats.sources import cases, problem

H200 = Hardware("gpu", "NVIDIA H200", (9, 0), (13, 1))
RTX = Hardware("gpu", "NVIDIA GeForce RTX 5090", (12, 0), (13, 1))
CPU = Hardware("cpu", toolkit=(13, 1))


@pytest.mark.parametrize("case", cases("gpu-info"), ids=lambda case: case["nvidia_smi"])
def test_nvidia_smi_is_read_as_the_reference_does(case: dict) -> None:
    info = parse_nvidia_smi(case["nvidia_smi"])
    found = info and {
        "num_gpus": info.num_gpus,
        "compute_capability": list(info.compute_capability or ()),
        "is_datacenter_gpu": info.is_datacenter_gpu,
    }
    assert found == case["expected"]


@pytest.mark.parametrize(
    ("changes", "hardware", "words"),
    [
        ({"min_cuda_toolkit": "13.1"}, H200, ""),
        ({"min_cuda_toolkit": "13.2.1"}, H200, "toolkit 13.2"),
        ({"min_cuda_toolkit": "14"}, H200, "toolkit 14.0"),
        ({"min_cuda_toolkit": "latest"}, H200, "not a version"),
        ({"compute_capability": "9.0"}, H200, ""),
        ({"compute_capability": "10.0"}, H200, "compute capability 10.0"),
        ({"compute_capability": "10.0"}, RTX, ""),
        ({"compute_capability": "10.0", "requires_datacenter_gpu": True}, RTX, "datacenter"),
        ({"compute_capability": None, "requires_datacenter_gpu": True}, RTX, ""),
        ({"compute_capability": "any"}, CPU, ""),
        ({}, CPU, "compute capability 8.0"),
        ({"compute_capability": None, "min_cuda_toolkit": "13.0"}, CPU, ""),
    ],
)
def test_compute_evals_skips(changes: dict, hardware: Hardware, words: str) -> None:
    reason = compute_eval_skip(problem(**changes), hardware)
    assert words in reason
    assert bool(words) == bool(reason)


def test_a_cpu_track_runs_cuda_problems_only_where_they_ask_for_nothing() -> None:
    assert track_skip(problem(compute_capability=None), CPU) == ""
    assert track_skip(problem(compute_capability=None, min_cuda_toolkit="12.0"), CPU)
    assert track_skip(problem(Profile.PODIUM, compute_capability=None), CPU)


@pytest.mark.parametrize("kind", ["cpp", "python"])
def test_cpu_problems_run_on_cpu_tracks(kind: str) -> None:
    subject = problem(Profile.PODIUM, type=kind)
    assert track_skip(subject, CPU) == ""
    assert "CPU problem" in track_skip(subject, H200)


def test_a_track_knows_real_datacenter_gpus() -> None:
    subject = problem(requires_datacenter_gpu=True)
    a2000 = Hardware("gpu", "NVIDIA RTX A2000", (8, 6), (13, 1))
    assert compute_eval_skip(subject, a2000) == ""
    assert "datacenter" in track_skip(subject, a2000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Tesla T4", True),
        ("NVIDIA H20", True),
        ("NVIDIA H800", True),
        ("NVIDIA A800-SXM4-80GB", True),
        ("Tesla P100-PCIE", True),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", True),
        ("NVIDIA GH200 480GB", True),
        ("NVIDIA H100 80GB HBM3", True),
        ("NVIDIA RTX PRO 6000 Blackwell Workstation Edition", False),
        ("NVIDIA RTX A2000", False),
        ("NVIDIA RTX A1000 Laptop GPU", False),
        ("NVIDIA GeForce RTX 4090", False),
        ("", False),
    ],
)
def test_datacenter_products(name: str, expected: bool) -> None:
    assert is_datacenter(name) is expected
