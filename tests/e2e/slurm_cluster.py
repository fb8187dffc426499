"""A Slurm cluster of this one machine: munged, slurmctld and slurmd of the test's own, on its own ports. Needs root."""

import os
import secrets
import socket
import subprocess

from tests.e2e.processes import Processes, free_port

CONFIGURATION = """\
ClusterName=podium
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={controller}
SlurmdPort={daemon}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_interval=2
ReturnToService=2
MailProg=/bin/true
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:4
"""


class SlurmCluster(Processes):
    """`start` waits until the machine is idle in the cluster's eyes."""

    @property
    def variables(self) -> dict[str, str]:
        """By which Slurm's commands find the cluster."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": f"{os.environ['PATH']}:/usr/sbin"}

    def start(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        for folder in (self.folder, *self.folder.parents):  # munge's clients reach its socket through all of them
            if folder.is_relative_to("/tmp"):
                folder.chmod(folder.stat().st_mode | 0o055)
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        host = socket.gethostname().partition(".")[0]
        text = CONFIGURATION.format(
            host=host, folder=self.folder, controller=free_port(), daemon=free_port(), cpus=os.cpu_count()
        )
        (self.folder / "slurm.conf").write_text(text, encoding="ascii")
        environment = os.environ | self.variables
        files = {"socket": "munge.socket", "key-file": "munge.key", "pid-file": "munge.pid", "log-file": "munged.log"}
        options = [f"--{name}={self.folder / file}" for name, file in files.items()]
        seed = f"--seed-file={self.folder / 'munge.seed'}"
        self.launch("munged", ["munged", "--foreground", "--force", seed, *options], environment)
        self.wait_until((self.folder / "munge.socket").exists, "munged answers")
        self.launch("slurmctld", ["slurmctld", "-D"], environment)
        self.launch("slurmd", ["slurmd", "-D", "-N", host], environment)
        self.wait_until(lambda: self.ask("sinfo", "--noheader", "--format=%T") == "idle", "the machine is idle")

    def ask(self, *command: str) -> str:
        ran = subprocess.run(command, env=os.environ | self.variables, capture_output=True, text=True, check=False)
        return ran.stdout.strip()

    def jobs(self, *states: str) -> list[str]:
        """The names of the jobs in these states."""
        listed = self.ask("squeue", "--noheader", "--array", f"--states={','.join(states)}", "--format=%j")
        return listed.splitlines()
