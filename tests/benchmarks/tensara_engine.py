"""A checkout of an engine that answers as Tensara's does: a solution's text says which events it gets.

It stands in for the real one, which needs a GPU. It imports the same modules and has the same routes.
"""

from pathlib import Path

UTILS = """
import multiprocessing, queue
from functools import wraps
from fastapi import HTTPException


class NVCCError(Exception):
    pass


def run_nvcc_and_return_bytes(gpu, code, name):
    if "does not compile" in code:
        raise NVCCError(f"error: for {gpu}")
    return b"library"


def yield_ptx_sass(gpu, code):
    raise HTTPException(status_code=500, detail="no listing is wanted")


def subproc_generator(timeout):
    def decorate(function):
        @wraps(function)
        def run(*arguments):
            events = multiprocessing.Queue()

            def inside():
                for event in function(*arguments):
                    events.put(event)
                events.put(None)

            process = multiprocessing.Process(target=inside)
            process.start()
            while True:
                try:
                    event = events.get(timeout=timeout)
                except queue.Empty:
                    yield {"status": "TIME_LIMIT_EXCEEDED", "message": "Time Limit Exceeded"}
                    process.terminate()
                    break
                yield event
                if event is None:
                    break
            process.join()

        return run

    return decorate
"""
RUNNER = """
import os


def run_checker(name, code):
    yield {"status": "CHECKING"}
    if "dies" in code:
        os._exit(3)
    if "is wrong" in code:
        yield {"status": "WRONG_ANSWER", "debug_info": {"max_difference": 2.0}}
        return
    yield {"status": "CHECKED", "total_tests": 2}


def run_benchmark(name, code):
    yield {"status": "BENCHMARKING"}
    if "changes nothing" in code:
        yield {"status": "WRONG_ANSWER", "debug_info": {"message": "Mismatched checksum"}}
        return
    ms = 0.5 if "cheats" in code else 2.0
    for number, case in enumerate(("small", "large"), 1):
        runs = [{"run_index": 0, "runtime_ms": ms * number, "gpu_samples": [{"sm_clock_mhz": 1980}]}]
        result = {"name": case, "test_id": number, "runtime_ms": ms * number, "runs": runs}
        yield {"status": "BENCHMARK_RESULT", "result": result}
    yield {"status": "BENCHMARKED", "avg_runtime_ms": ms * 2**0.5, "sums": float("nan")}
"""
API = """
import modal
import utils, runner
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

image = modal.Image.from_registry("cuda", add_python="3.13").apt_install(["gcc"]).env({"CC": "gcc"}).run_commands("x")
app = modal.App("engine", image=image)
web_app = FastAPI()
PHASES = {"checker": runner.run_checker, "benchmark": runner.run_benchmark}


@utils.subproc_generator(timeout=1)
def binary_runner(phase, library, code, name):
    yield from PHASES[phase](name, code)


gpu_runners = {"H200": app.function(image=image, gpu="H200", serialized=True)(binary_runner)}


def lines(events):
    import simplejson

    for event in events:
        if event:
            yield "data: " + simplejson.dumps(event, ignore_nan=True) + "\\n\\n"


def stream(phase, gpu, body):
    code = body["solution_code"]
    if phase == "checker":
        yield {"status": "COMPILING"}
    try:
        library = utils.run_nvcc_and_return_bytes(gpu, code, phase)
    except utils.NVCCError as error:
        yield {"status": "COMPILE_ERROR", "message": "NVCC Compilation Failed", "details": error.args[0]}
        return
    if "the server fails" in code:
        raise RuntimeError("the server failed")
    yield from utils.yield_ptx_sass(gpu, code)
    yield from gpu_runners[gpu].remote_gen(phase, library, code, body["problem"])


@web_app.post("/checker-{gpu}")
async def checker(gpu: str, request: Request):
    body = await request.json()
    if gpu not in gpu_runners:
        return JSONResponse(status_code=404, content={"error": f"GPU '{gpu}' not supported"})
    return StreamingResponse(lines(stream("checker", gpu, body)), media_type="text/event-stream")


@web_app.post("/benchmark-{gpu}")
async def benchmark(gpu: str, request: Request):
    return StreamingResponse(lines(stream("benchmark", gpu, await request.json())))


@app.function()
@modal.asgi_app()
def fastapi_app():
    return web_app
"""


def make_engine(root: Path) -> Path:
    """Write the checkout and return its folder."""
    (root / "engine").mkdir(parents=True)
    for name, text in {"utils": UTILS, "runner": RUNNER, "api": API}.items():
        (root / "engine" / f"{name}.py").write_text(text)
    return root


def make_solutions(root: Path, **texts: str) -> Path:
    """Write solutions to the problem `add`, `honest_plain="..."` as honest-plain.cu, and the problem beside them."""
    (root / "solutions" / "add").mkdir(parents=True)
    (root / "problems" / "add").mkdir(parents=True)
    (root / "problems" / "add" / "def.py").write_text("class add: ...\n")
    for name, text in texts.items():
        (root / "solutions" / "add" / f"{name.replace('_', '-')}.cu").write_text(f"// {text}\n")
    return root / "solutions"
