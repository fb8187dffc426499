"""A node says what it lacks, and what it found out about its machine."""

from pathlib import Path

import pytest

from runners.agent.capabilities import parse_gpus, parse_versions
from runners.agent.ground.errors import MissingSetting
from runners.agent.settings import NodeSettings

WHOLE = {"PODIUM_SITE_URL": "http://site/", "PODIUM_NODE_TOKEN": "t", "PODIUM_BROKER_URL": "filesystem://"}


def test_three_variables_are_enough() -> None:
    settings = NodeSettings.read(WHOLE)
    assert (settings.site_url, settings.token, settings.sandbox) == ("http://site", "t", None)
    assert settings.slots >= 1


@pytest.mark.parametrize("name", ["PODIUM_NODE_TOKEN", "PODIUM_SITE_URL"])
def test_a_missing_variable_is_named_with_where_it_comes_from(name: str) -> None:
    with pytest.raises(MissingSetting, match=f"  {name}: .+"):
        NodeSettings.read({key: value for key, value in WHOLE.items() if key != name})


def test_all_missing_variables_are_named_at_once() -> None:
    with pytest.raises(MissingSetting) as missing:
        NodeSettings.read({})
    assert all(name in str(missing.value) for name in ("PODIUM_NODE_TOKEN", "PODIUM_SITE_URL"))


def test_a_node_that_joins_needs_no_token() -> None:
    rest = {key: value for key, value in WHOLE.items() if key != "PODIUM_NODE_TOKEN"}
    assert NodeSettings.read(rest, joins=True).token == ""


def test_the_site_may_tell_the_broker_and_a_node_s_own_setting_goes_first() -> None:
    rest = {key: value for key, value in WHOLE.items() if key != "PODIUM_BROKER_URL"}
    assert NodeSettings.read(rest).broker("amqp://reader@site/") == "amqp://reader@site/"
    assert NodeSettings.read(WHOLE).broker("amqp://reader@site/") == "filesystem://"
    with pytest.raises(MissingSetting, match="PODIUM_BROKER_URL:"):
        NodeSettings.read(rest).broker("")


def test_a_secret_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from-file\n")
    rest = {key: value for key, value in WHOLE.items() if key != "PODIUM_NODE_TOKEN"}
    assert NodeSettings.read(rest | {"PODIUM_NODE_TOKEN_FILE": str(tmp_path / "token")}).token == "from-file"
    with pytest.raises(MissingSetting, match="PODIUM_NODE_TOKEN_FILE names"):
        NodeSettings.read(rest | {"PODIUM_NODE_TOKEN_FILE": str(tmp_path / "none")})


@pytest.mark.parametrize("slots", ["0", "many", "-1", "1000"])
def test_a_bad_number_of_slots_is_refused(slots: str) -> None:
    with pytest.raises(MissingSetting, match="PODIUM_NODE_SLOTS"):
        NodeSettings.read(WHOLE | {"PODIUM_NODE_SLOTS": slots})


def test_gpus_are_read_from_nvidia_smi_s_rows() -> None:
    text = "GPU-1a, NVIDIA H200, 9.0, 143771, 580.95.05\nsomething else\nGPU-2b, NVIDIA L4, 8.9, [N/A], 580.95.05\n"
    first, second = parse_gpus(text)
    assert (first.uuid, first.compute_capability, first.memory_bytes) == ("GPU-1a", "9.0", 143771 << 20)
    assert second.memory_bytes == 0


def test_versions_are_read_from_what_tools_say_of_themselves() -> None:
    text = (
        "g++: g++ (Debian 12.2.0-14) 12.2.0 Copyright (C) 2022\n"
        "nvcc: nvcc: NVIDIA (R) Cuda compiler driver Cuda compilation tools, release 13.0, V13.0.48\n"
        "ncu: NVIDIA (R) Nsight Compute Command Line Profiler Copyright (c) 2018-2025 NVIDIA Corporation "
        "Version 2025.3.1.0 (build 36398880) (public-release)\n"
        "python3: Python 3.11.2 \nnumpy: 2.1.0\ncudnn: V9.14.0\n"
    )
    backwards = "\n".join(reversed(text.splitlines()))
    assert list(parse_versions(backwards)) == list(parse_versions(text)), "tools answer in any order"
    assert parse_versions(text) == {
        "g++": "12.2.0",
        "nvcc": "13.0",
        "ncu": "2025.3.1.0",
        "python3": "3.11.2",
        "numpy": "2.1.0",
        "cudnn": "9.14.0",
    }
