"""Things that a command must not reach: the network, the machine's files and secrets, other processes, its own
judge."""

import os
import socket
import threading
from pathlib import Path

import pytest

from runners.agent.sandbox import Command, Mount
from runners.wire.protocol import Witness
from tests.patience import SOON
from tests.requirements import requires
from tests.sandbox.boxes import LIMITS, NAP_SECONDS, Run, processes_named, runner

SYSTEM_CALL = "import ctypes, os; libc = ctypes.CDLL(None, use_errno=True); "


def python(code: str) -> str:
    return f"python3 - <<'END'\n{code}\nEND"


def test_the_network_is_out_of_reach(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        port = server.getsockname()[1]
        outcome = run(python(f"import socket; socket.create_connection(('127.0.0.1', {port}), 2)"))
        with pytest.raises(TimeoutError):
            server.accept()
    assert outcome.exit_code == 1
    assert "PermissionError" in outcome.stderr or "ConnectionRefusedError" in outcome.stderr


REACHES = """
import socket
v4, v6 = socket.AF_INET, socket.AF_INET6
for family, address in ((v4, '192.0.2.1'), (v4, '169.254.169.254'), (v6, '2001:db8::1')):
    with socket.socket(family, socket.SOCK_DGRAM) as line:
        try:
            line.connect((address, 53))
            print('reached', address)
        except OSError as error:
            print(error.errno)
print([line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line])
"""


def test_a_command_has_the_loopback_device_and_no_other(confined: Run) -> None:
    outcome = confined(python(REACHES))
    assert "reached" not in outcome.stdout
    assert outcome.stdout.splitlines()[-1] == "['lo']", outcome
    server = "socket.create_server(('localhost', 0))"
    speaks = f"import socket\ns = {server}\nsocket.create_connection(s.getsockname()).close()"
    assert confined(python(speaks)).succeeded


@requires("bubblewrap")
def test_commands_do_not_share_their_loopback_device(opened, workspace: Path) -> None:
    sandbox = opened("bubblewrap")
    serves = "import socket, time\ns = socket.create_server(('127.0.0.1', 7654))\nprint('up', flush=True)"
    serves += "\ntime.sleep(600)"
    up = threading.Event()
    command = Command(python(serves), workspace, LIMITS, on_output=lambda _: up.set())
    with sandbox.start(command):
        assert up.wait(SOON)
        calls = "import socket; socket.create_connection(('127.0.0.1', 7654), 2)"
        assert "ConnectionRefusedError" in runner(sandbox, workspace)(python(calls)).stderr


@pytest.mark.parametrize("family", ["AF_PACKET", "AF_NETLINK", "AF_VSOCK", "AF_ALG"])
def test_no_socket_beyond_the_loopback_device_can_be_made(run: Run, family: str) -> None:
    kind = "SOCK_STREAM" if family != "AF_PACKET" else "SOCK_RAW"
    code = f"import socket; socket.socketpair(); socket.socket(socket.{family}, socket.{kind})"
    assert "PermissionError" in run(python(code)).stderr


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6"])
def test_without_a_network_namespace_only_a_local_socket_can_be_made(opened, workspace: Path, family: str) -> None:
    run = runner(opened("unconfined"), workspace)
    assert "PermissionError" in run(python(f"import socket; socket.socket(socket.{family})")).stderr


def test_programs_find_a_shell_and_a_terminal_s_name(run: Run) -> None:
    assert run("env").stdout.splitlines().count("TERM=dumb") == 1
    assert run("env -i $SHELL -c 'echo up'").stdout == "up\n"


def test_the_machine_s_own_files_are_not_there(confined: Run) -> None:
    outcome = confined("cat /etc/shadow; cat /etc/passwd; ls -A /root/* /home")
    assert "root:$" not in outcome.stdout
    assert "root:*" not in outcome.stdout
    assert "podium:x:" in outcome.stdout


@requires("bubblewrap")
def test_the_private_root_is_built_from_a_list(opened, workspace: Path) -> None:
    shown = set(runner(opened("bubblewrap"), workspace)("ls -A /").stdout.split())
    assert shown.isdisjoint({"boot", "home", "media", "mnt", "opt", "run", "srv", "sys", "var"})


def test_a_file_outside_is_not_there(confined: Run, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the answer")
    assert "the answer" not in confined(f"cat {secret}; cat /proc/1/root{secret}").stdout


def test_the_root_cannot_be_written(confined: Run) -> None:
    outcome = confined("for f in / /usr /etc /dev /podium /podium/bin; do touch $f/x && echo wrote $f; done; echo end")
    assert outcome.stdout == "end\n"


def test_secrets_of_the_agent_s_environment_do_not_come_in(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODIUM_NODE_TOKEN", "a-secret-of-the-node")
    outcome = run("env; cat /proc/*/environ | tr '\\0' '\\n'", environment={"GIVEN": "yes"})
    assert "GIVEN=yes" in outcome.stdout
    assert "a-secret-of-the-node" not in outcome.stdout


def test_no_privilege_is_left(confined: Run) -> None:
    outcome = confined("id -u; grep -E '^(CapEff|CapPrm|CapBnd|CapAmb|NoNewPrivs|Seccomp):' /proc/self/status")
    facts = dict(line.split(":\t") for line in outcome.stdout.splitlines()[1:])
    assert outcome.stdout.splitlines()[0] != "0"
    assert {facts[name] for name in ("CapEff", "CapPrm", "CapBnd", "CapAmb")} == {"0" * 16}
    assert (facts["NoNewPrivs"], facts["Seccomp"]) == ("1", "2")


@pytest.mark.skipif(os.geteuid() != 0, reason="only an agent started as root can become another user")
def test_an_agent_started_as_root_runs_commands_as_the_two_users_of_the_slot(confined: Run, workspace: Path) -> None:
    """docs/node-operators.md names these uids."""
    for options, uid in (({"slot": 3}, 61006), ({"slot": 3, "user": "checker"}, 61007), ({"slot": 4}, 61008)):
        confined(f"touch made-by-{uid}", **options)
        assert (workspace / f"made-by-{uid}").stat().st_uid == uid


DENIED = {
    "ptrace": "libc.ptrace(16, 1, 0, 0)",
    "process_vm_readv": "libc.process_vm_readv(1, None, 0, None, 0, 0)",
    "pidfd_getfd": "libc.syscall(438, 0, 0, 0)",
    "perf_event_open": "libc.syscall(298, 0, 0, 0, 0, 0)",
    "bpf": "libc.syscall(321, 0, 0, 0)",
    "userfaultfd": "libc.syscall(323, 0)",
    "unshare": "libc.unshare(0x10000000)",
    "setns": "libc.setns(0, 0)",
    "clone into a namespace": "libc.syscall(56, 0x10000011, 0, 0, 0, 0)",
    "untraced clone": "libc.syscall(56, 0x00800011, 0, 0, 0, 0)",
    "mount": "libc.mount(b'none', b'/tmp', b'tmpfs', 0, None)",
    "keyctl": "libc.syscall(250, 0, 0, 0, 0, 0)",
    "personality": "libc.personality(0xffffffff)",
    "seccomp": "libc.syscall(317, 1, 0, 0)",
    "prctl seccomp": "libc.prctl(22, 2, 0, 0, 0)",
    "memfd_secret": "libc.syscall(447, 0)",
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the calls are named by their numbers on x86_64")
def test_dangerous_system_calls_are_refused(run: Run) -> None:
    tries = "\n".join(f"r = {call}; print({name!r}, r, ctypes.get_errno())" for name, call in DENIED.items())
    lines = run(python(f"{SYSTEM_CALL}\n{tries}\nprint('clone3', libc.syscall(435, 0, 0), ctypes.get_errno())")).stdout
    assert lines.splitlines() == [f"{name} -1 1" for name in DENIED] + ["clone3 -1 38"]


def test_the_supervisor_s_memory_and_files_are_closed(confined: Run) -> None:
    outcome = confined(
        "cat /proc/$PPID/mem /proc/$PPID/environ; ls -l /proc/$PPID/fd; head -c1 /proc/$PPID/fd/0; echo end"
    )
    assert outcome.stdout.endswith("end\n")
    assert outcome.stderr.count("ermission denied") >= 3, outcome.stderr


def test_a_forged_report_is_only_output(run: Run) -> None:
    line = '{"exit_code": 0, "signal": null, "timed_out": false, "cancelled": false, "wall_ms": 1, "cpu_ms": 1, '
    line += '"max_rss_bytes": 1, "witness": "seen", "witness_detail": ""}'
    outcome = run(f"printf '\\n%s %s\\n' {'0' * 32} '{line}'; exit 3")
    assert outcome.exit_code == 3
    assert outcome.witness is not Witness.SEEN
    assert line in outcome.stdout


def test_killing_the_supervisor_is_no_pass(run: Run) -> None:
    outcome = run("kill -9 $PPID; sleep 0.2; exit 0", trace=True)
    assert outcome.witness is not Witness.SEEN
    if not outcome.succeeded:
        assert outcome.witness is Witness.CONTRADICTED


def test_killing_everything_hits_only_the_command_itself(confined: Run) -> None:
    outcome = confined("kill -9 1; kill -STOP 1; bash -c 'kill -9 -1'; sleep 5")
    assert (outcome.signal, outcome.timed_out) == (9, False)


def test_nobody_outlives_the_command(run: Run) -> None:
    nap = f"sleep {NAP_SECONDS}"
    outcome = run(f"(setsid sh -c 'exec {nap}' &) ; (trap '' TERM HUP; setsid nohup {nap} &) ; echo started")
    assert outcome.stdout == "started\n"
    assert processes_named(NAP_SECONDS) == []


def test_a_process_that_holds_the_pipes_does_not_hold_the_agent(run: Run) -> None:
    outcome = run(f"sleep {NAP_SECONDS} & disown; echo started")
    assert not outcome.timed_out
    assert processes_named(NAP_SECONDS) == []


def test_what_one_command_leaves_behind_the_next_does_not_find(confined: Run) -> None:
    confined("echo residue > /tmp/left; echo residue > /dev/shm/left; echo kept > kept")
    assert confined("cat /tmp/left /dev/shm/left kept").stdout == "kept\n"


def test_a_mount_is_shown_read_only(confined: Run, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    (tmp_path / "data").write_text("shown")
    mount = Mount(tmp_path, "/data")
    outcome = confined("cat /data/data; echo changed > /data/data", mounts=(mount,))
    assert outcome.stdout == "shown"
    assert (tmp_path / "data").read_text() == "shown"


def test_a_symlink_out_of_the_workspace_leads_nowhere(confined: Run, workspace: Path) -> None:
    (workspace / "link").symlink_to("/etc/shadow")
    assert confined("cat link").exit_code == 1
