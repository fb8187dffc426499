"""The Celery end of a node on the folder broker: a ring arrives, a signal ends it, and no site is loaded into it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from celery import Celery

from runners.broker import celery_settings
from runners.doorbell import TASK, queue_name
from runners.protocol import Stage

NODE = """
import sys, time
from pathlib import Path
from runners.agent.celery_app import make_app, make_worker
from runners.protocol import Grant, Stage
def say(word): print(word, flush=True)
app = make_app("filesystem://", Path(sys.argv[1]), lambda: say("rung"))
worker = make_worker(app, [Grant(track="cpu", stage=Stage.BOTH)], lambda: say("stop"))
say("ready")
worker.start()
say("site" if "leaderboard" in sys.modules else "no site")
"""


def test_a_ring_wakes_the_node_and_a_signal_stops_it_at_once(tmp_path: Path) -> None:
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "leaderboard.settings"}
    node = subprocess.Popen(
        [sys.executable, "-c", NODE, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert node.stdout is not None
        assert node.stdout.readline() == "ready\n"
        site = Celery("site", set_as_current=False, fixups=[])
        site.conf.update(celery_settings("filesystem://", tmp_path))
        site.send_task(TASK, args=["cpu", "both"], queue=queue_name("cpu", Stage.BOTH), retry=False)
        assert node.stdout.readline() == "rung\n"
        rang_off_at = time.monotonic()
        node.send_signal(signal.SIGTERM)
        words = [line.strip() for line in iter(node.stdout.readline, "stop\n")]
        assert time.monotonic() - rang_off_at < 1.5
        assert set(words) <= {"", "worker: Warm shutdown (MainProcess)"}
        rest = node.communicate(timeout=20)[0].split("\n")
        assert "no site" in rest
    finally:
        node.kill()
        node.wait()
