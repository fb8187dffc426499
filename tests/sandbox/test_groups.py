"""Where control groups (v2) can be made: the kernel's own rules, in groups of the test's own.

A machine whose memory controller serves another hierarchy lends another controller: the rules are the same for all.
"""

import json
import os
import secrets
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runners.agent.sandbox import cages, groups
from runners.agent.sandbox.cages import GroupCage, GroupFiles, MemoryLimit
from runners.agent.sandbox.groups import (
    LEAF,
    CgroupPlace,
    Home,
    candidates,
    find_place,
    hand_on,
    members_of,
    ours_among,
)
from runners.agent.sandbox.processes import read

TELL = """\
import json, os, sys
from pathlib import Path
from runners.agent.sandbox import groups
folder, controller = Path(sys.argv[1]), sys.argv[2]
before = groups.members_of(folder)
home = groups.find_home((controller,))
print(json.dumps([str(home.folder), home.why_not, sorted(before), sorted(groups.members_of(folder)),
                  sorted(groups.members_of(folder / groups.LEAF)), os.getpid(), os.getppid()]))
"""


def _hierarchy() -> CgroupPlace | None:
    place = find_place(read(Path("/proc/self/mountinfo")), read(Path("/proc/self/cgroup")))
    if isinstance(place, str) or os.geteuid() != 0 or not os.access(place.own, os.W_OK):
        return None
    return place if read(place.own / "cgroup.controllers").split() and not groups.SYSTEMD.is_dir() else None


HIERARCHY = _hierarchy()
needs_groups = pytest.mark.skipif(HIERARCHY is None, reason="needs root and a cgroup v2 hierarchy of its own")


class Group:
    """A group that was given one controller and hands none on."""

    def __init__(self, folder: Path, controller: str) -> None:
        self.folder, self.controller = folder, controller

    def start(self, *command: str, **options: bool) -> "subprocess.Popen[str]":
        """In the group from its first instruction on; its standard input stays open."""
        join = f'echo $$ > {self.folder}/cgroup.procs && exec "$@"'
        pipe = subprocess.PIPE
        return subprocess.Popen(["sh", "-c", join, "sh", *command], text=True, stdin=pipe, stdout=pipe, **options)

    def told(self, *before: str) -> "Told":
        """The findings of an agent that is started in the group; `before` are the words before its command."""
        agent = self.start(*before, sys.executable, "-c", TELL, str(self.folder), self.controller)
        output, _ = agent.communicate(timeout=30)
        return Told(*json.loads(output))

    def hands_on(self) -> bool:
        return self.controller in read(self.folder / "cgroup.subtree_control").split()


class Told:
    def __init__(
        self, home: str, why_not: str, before: list[int], left: list[int], moved: list[int], pid: int, parent: int
    ) -> None:
        self.home, self.why_not, self.before, self.left, self.moved = home, why_not, before, left, moved
        self.pid, self.parent = pid, parent


@pytest.fixture
def group() -> Iterator[Group]:
    assert HIERARCHY is not None
    controller = read(HIERARCHY.own / "cgroup.controllers").split()[0]
    handed_on = controller in read(HIERARCHY.own / "cgroup.subtree_control").split()
    assert hand_on(HIERARCHY.own, (controller,), ours_among) == ""
    made = Group(HIERARCHY.own / f"podium-test-{secrets.token_hex(4)}", controller)
    made.folder.mkdir()
    yield made
    for folder in (made.folder / LEAF, made.folder):
        cages._remove_group(folder)
    if not handed_on:
        (HIERARCHY.own / "cgroup.subtree_control").write_text(f"-{controller}")


@needs_groups
def test_an_agent_moves_itself_and_who_started_it_into_a_leaf(group: Group) -> None:
    told = group.told("sh", "-c", '"$@" & wait', "sh")
    assert (told.home, told.why_not) == (str(group.folder), "")
    assert {told.pid, told.parent} <= set(told.before)
    assert (told.left, told.moved) == ([], told.before)
    assert group.hands_on()


@needs_groups
def test_the_rest_of_its_command_line_comes_along(group: Group) -> None:
    told = group.told(
        "sh", "-c", 'sleep 5 | { "$@"; kill -9 $(cat ' + str(group.folder / LEAF) + "/cgroup.procs); }", "sh"
    )
    assert told.home == str(group.folder)
    assert len(told.moved) > 2


@needs_groups
def test_an_agent_in_its_leaf_finds_the_same_home_again(group: Group) -> None:
    (group.folder / LEAF).mkdir()
    (group.folder / "cgroup.subtree_control").write_text(f"+{group.controller}")
    inner = Group(group.folder / LEAF, group.controller)
    told = inner.told()
    assert told.home == str(group.folder)
    assert told.before == told.left == [told.pid]


@needs_groups
def test_processes_of_others_are_left_alone(group: Group) -> None:
    with group.start("cat", start_new_session=True) as stranger:
        while members_of(group.folder) != {stranger.pid}:
            pass
        told = group.told()
        complaint = hand_on(group.folder, (group.controller,), lambda members: members - {stranger.pid})
        still_there = members_of(group.folder)
        stranger.kill()
    assert told.home == str(group.folder.parent), "the next above that hands on"
    assert (told.left, told.moved) == (told.before, [])
    assert complaint == f"holds processes of others ({stranger.pid} cat)"
    assert still_there == {stranger.pid}
    assert not (group.folder / LEAF).exists()


@needs_groups
def test_a_container_s_group_is_emptied_whole(group: Group) -> None:
    """A pid and a control group namespace, as an engine makes them, with a process that the agent did not start."""
    inside = (
        "mount -t cgroup2 none /mnt && (setsid sleep 30 &) && sleep 0.3; "
        f'{shlex.quote(sys.executable)} -c "$0" /mnt {group.controller}; kill -9 -1'
    )
    enter = f'echo $$ > {group.folder}/cgroup.procs && exec unshare --cgroup sh -c "$0" "$1"'
    engine = ["unshare", "--pid", "--fork", "--mount", "--mount-proc", "sh", "-c", enter, inside, TELL]
    output = subprocess.run(engine, capture_output=True, text=True, timeout=30, check=False).stdout
    told = Told(*json.loads(output.splitlines()[0]))
    assert (told.home, told.why_not, told.left) == ("/mnt", "", [])
    assert {1, told.pid} < set(told.moved)


@needs_groups
def test_the_root_of_all_hands_on_though_it_holds_processes(group: Group) -> None:
    root = group.folder.parent
    if (root / "cgroup.type").exists():
        pytest.skip("the tests run below the root of all")
    (root / "cgroup.subtree_control").write_text(f"-{group.controller}")
    assert members_of(root)
    assert hand_on(root, (group.controller,), lambda members: members) == ""
    assert (group.folder / "cgroup.controllers").read_text().split() == [group.controller]
    assert not (root / LEAF).exists()


@needs_groups
def test_nobody_is_moved_for_a_controller_that_is_not_there(group: Group) -> None:
    assert hand_on(group.folder, ("rdma-of-old",), ours_among) == "was not given the controller rdma-of-old"


@needs_groups
def test_a_group_that_cannot_be_bounded_is_not_left_behind(group: Group) -> None:
    folder = group.folder / "podium-trial"
    with pytest.raises(OSError, match="no-such-limit"):
        GroupCage([folder], GroupFiles("", ""), [(folder / "no-such-limit", "1")])
    assert not folder.exists()


# ---- where a process stands --------------------------------------------------------------------------------------

HYBRID = """\
30 24 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro
31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
"""


@pytest.mark.parametrize(
    ("mountinfo", "listed", "expected"),
    [
        ("41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup rw", "0::/", ("/sys/fs/cgroup", "/sys/fs/cgroup")),
        ("41 31 0:38 / /a\\040b rw - cgroup2 cgroup rw", "0::/x/y", ("/a b", "/a b/x/y")),
        (HYBRID, "4:memory:/m\n0::/x", ("/sys/fs/cgroup/unified", "/sys/fs/cgroup/unified/x")),
        ("41 31 0:38 /pod /sys/fs/cgroup rw - cgroup2 cgroup rw", "0::/pod/c", ("/sys/fs/cgroup", "/sys/fs/cgroup/c")),
    ],
)
def test_a_process_s_place_is_read_from_the_kernel(mountinfo: str, listed: str, expected: tuple[str, str]) -> None:
    assert find_place(mountinfo, listed) == CgroupPlace(*map(Path, expected))


@pytest.mark.parametrize(
    ("mountinfo", "listed", "words"),
    [
        ("", "0::/", "no cgroup v2 hierarchy is mounted"),
        ("41 31 0:38 /other /sys/fs/cgroup rw - cgroup2 cgroup rw", "0::/pod", "no cgroup v2 hierarchy is mounted"),
        (HYBRID, "0::/../x", "is in no cgroup v2"),
        (HYBRID, "4:memory:/", "is in no cgroup v2"),
    ],
)
def test_where_there_is_no_place_it_is_said(mountinfo: str, listed: str, words: str) -> None:
    found = find_place(mountinfo, listed)
    assert isinstance(found, str)
    assert words in found


def test_groups_above_are_tried_up_to_one_that_bounds_us(tmp_path: Path) -> None:
    own = tmp_path / "slice" / "bounded" / "own"
    own.mkdir(parents=True)
    (own / "memory.max").write_text("max\n")
    (own.parent / "memory.max").write_text("1073741824\n")
    assert list(candidates(CgroupPlace(tmp_path, own), systemd=False)) == [own, own.parent]
    (own.parent / "memory.max").write_text("max\n")
    assert list(candidates(CgroupPlace(tmp_path, own), systemd=False))[-1] == tmp_path
    assert list(candidates(CgroupPlace(tmp_path, own), systemd=True)) == [own]
    assert list(candidates(CgroupPlace(tmp_path, own / LEAF), systemd=True)) == [own, own / LEAF]


# ---- what is said where there are none -----------------------------------------------------------------------------


def test_the_watcher_says_why_there_are_no_groups(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reason = "/sys/fs/cgroup holds processes of others (7 init)"
    monkeypatch.setattr(cages, "find_home", lambda: Home(None, reason))
    monkeypatch.setattr(cages, "user_scope", lambda: "")
    monkeypatch.setattr(cages, "_own_group", lambda controller: None)
    found = cages.choose_memory_limit()
    assert (found.name, found.why) == ("watcher", f"cgroup v2: {reason}")
    assert reason in caplog.text


def test_a_group_that_takes_no_process_is_no_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "there").mkdir()
    monkeypatch.setattr(cages, "find_home", lambda: Home(tmp_path / "gone" / "below"))
    (tmp_path / "gone").write_text("no folder")
    found: Callable[[], MemoryLimit | str] = cages.groups_v2
    assert "no group can be made and bounded" in str(found())
