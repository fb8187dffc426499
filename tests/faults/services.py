"""A PostgreSQL cluster and a RabbitMQ node of a run's own, on free ports, which it may crash and start again."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg
from kombu import Connection
from kombu.exceptions import OperationalError

from tests.e2e.processes import Processes, free_port

POSTGRES = max(Path("/usr/lib/postgresql").glob("*/bin/postgres"), default=None)
RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""Debian's own start script would run it as another user, in the folders of the machine's own node."""
AS_POSTGRES = ("setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups")
"""PostgreSQL refuses to run as root."""


class Postgres:
    def __init__(self, processes: Processes, folder: Path) -> None:
        assert POSTGRES is not None
        self._processes, self._folder, self._bin, port = processes, folder, POSTGRES.parent, free_port()
        self._options = ["-D", str(folder), "-k", "", "-h", "127.0.0.1", "-p", str(port)]
        self.url = f"postgresql://postgres@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        if not self._folder.exists():
            self._folder.mkdir(mode=0o700)
            shutil.chown(self._folder, "postgres", "postgres")
            initdb = [
                *AS_POSTGRES,
                self._bin / "initdb",
                "-D",
                self._folder,
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
            ]
            subprocess.run(initdb, check=True, capture_output=True, cwd="/")
        self._processes.launch("postgres", [*AS_POSTGRES, str(self._bin / "postgres"), *self._options], os.environ)
        self._processes.wait_until(self._answers, "PostgreSQL answers")

    def crash(self) -> None:
        """End it at once, without a checkpoint: it recovers from its log at its next start."""
        self._processes.kill("postgres", signal.SIGQUIT)

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=3).close()
        except psycopg.OperationalError:
            return False
        return True


class RabbitMQ:
    def __init__(self, processes: Processes, folder: Path) -> None:
        folder.mkdir()
        self._processes = processes
        self._names_port, port = free_port(), free_port()
        self.url = f"amqp://guest:guest@127.0.0.1:{port}//"
        nowhere = str(folder / "nowhere")
        self._environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "ERL_EPMD_PORT": str(self._names_port),
            "RABBITMQ_NODENAME": f"podium-{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": str(folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(folder / "log"),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
            "RABBITMQ_GENERATED_CONFIG_DIR": str(folder / "config"),
            "RABBITMQ_CONFIG_FILE": nowhere,
            "RABBITMQ_CONF_ENV_FILE": nowhere,
            "RABBITMQ_ENABLED_PLUGINS_FILE": nowhere,
        }

    def start(self) -> None:
        if "names" not in self._processes.processes:
            names = ["epmd", "-port", str(self._names_port), "-address", "127.0.0.1"]
            self._processes.launch("names", names, self._environment)  # else the node starts one that outlives it
        self._processes.launch("rabbitmq", [str(RABBITMQ)], self._environment)
        self._processes.wait_until(self._answers, "RabbitMQ answers")

    def crash(self) -> None:
        self._processes.kill("rabbitmq")

    def _answers(self) -> bool:
        try:
            with Connection(self.url, connect_timeout=3) as connection:
                connection.ensure_connection(max_retries=1)
        except OperationalError:
            return False
        return True
