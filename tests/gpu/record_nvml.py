"""Records what NVML answers on this machine, idle and at work, for the fake that tests without a GPU use.

    PYTHONPATH=. python tests/gpu/record_nvml.py tests/agent/data/nvml-h200.json

The product's own code asks; what passes between it and pynvml is kept.
"""

# ruff: noqa: T201 - a script for people

import ctypes
import json
import platform
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pynvml

from runners.agent.devices.gpus import Gpus
from runners.agent.devices.nvml import Nvml, address

LEFT_OUT = ("nvmlInit", "nvmlShutdown", "nvmlEvent", "nvmlDeviceRegisterEvents", "nvmlDeviceGetHandleByIndex")
UTILISATION = "nvmlDeviceGetSamples"
FIELDS = "nvmlDeviceGetFieldValues"


class Recorder:
    """Passes everything on to pynvml and keeps each function's last answer, as `fake_nvml.FakeNvml` reads them."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.fields: dict[str, int] = {}
        self.utilisation: dict[int, int] = {}

    def __getattr__(self, name: str) -> Any:
        real = getattr(pynvml, name)
        if not name.startswith("nvml") or not callable(real) or name.startswith(LEFT_OUT):
            return real

        def recorded(*arguments: Any) -> Any:
            try:
                answer = real(*arguments)
            except pynvml.NVMLError as error:
                self._keep(name, arguments, {"error": error.value})
                raise
            self._keep(name, arguments, answer)
            return answer

        return recorded

    def _keep(self, name: str, arguments: tuple[Any, ...], answer: Any) -> None:
        if name == UTILISATION:
            if not isinstance(answer, dict):
                self.utilisation |= {int(each.timeStamp): int(each.sampleValue.uiVal) for each in answer[1]}
        elif name == FIELDS:
            values = [] if isinstance(answer, dict) else answer
            self.fields |= {str(each.fieldId): int(each.value.uiVal) for each in values if each.nvmlReturn == 0}
        else:
            plain = ",".join(str(each) for each in arguments if isinstance(each, int | str))
            self.answers[f"{name}({plain})" if plain else name] = _plain(answer)


def _plain(answer: Any) -> Any:
    if isinstance(answer, bytes):
        return answer.decode()
    if isinstance(answer, list | tuple):
        return [_plain(each) for each in answer]
    if isinstance(answer, ctypes.Structure):
        return {name: _plain(getattr(answer, name)) for name, *_ in answer._fields_}
    if hasattr(answer, "__dict__"):
        return {name: _plain(value) for name, value in vars(answer).items()}
    return answer if isinstance(answer, int | float | str | dict | None) else address(answer)


def ask_everything(recorder: Recorder) -> None:
    """All that a node asks, on the first device."""
    gpus = Gpus(Nvml(recorder))
    uuid = gpus.capabilities()[0].uuid
    with gpus.watch(uuid) as watch:
        time.sleep(1.0)
    print(watch.record)
    print(gpus.process_ids(uuid), gpus.trouble(uuid) or "no trouble")
    recorder.nvmlDeviceGetMinorNumber(next(Nvml(recorder).boards()))
    gpus.close()


def at_work(recorder: Recorder) -> None:
    with tempfile.TemporaryDirectory() as name:
        source = Path(__file__).parent / "burn.cu"
        subprocess.run(["nvcc", "-arch=native", "-o", f"{name}/burn", str(source)], check=True)
        with subprocess.Popen([f"{name}/burn", "100", "0", "40"], stdout=subprocess.PIPE) as program:
            time.sleep(1.5)
            ask_everything(recorder)
            program.wait()


def main(target: Path) -> None:
    idle, busy = Recorder(), Recorder()
    ask_everything(idle)
    at_work(busy)
    about = f"{datetime.now(UTC):%Y-%m-%d}, {idle.answers['nvmlDeviceGetName']}, driver "
    about += (
        f"{idle.answers['nvmlSystemGetDriverVersion']}, nvidia-ml-py {version('nvidia-ml-py')}, {platform.release()}"
    )
    recording = {
        "recorded": about,
        "idle": idle.answers,
        "busy": busy.answers,
        "fields": busy.fields,
        "utilisation": [[at, value] for at, value in sorted(busy.utilisation.items())],
    }
    target.write_text(json.dumps(recording, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
