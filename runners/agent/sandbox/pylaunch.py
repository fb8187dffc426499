"""Runs the contestant's Python in the interpreter's stead and announces to the witness that the script reached its end.

Started as `python [options] pylaunch.py SCRIPT ARGUMENT…`, `… -m MODULE …` or `… -c CODE …` by the shim that stands on
PATH. Only modules that the interpreter has already loaded are used: it must cost nothing and import nothing foreign.
"""
# Running code is what this is for, and pathlib would have to be imported:
# ruff: noqa: PTH100, PTH109, PTH112, PTH116, PTH113, PTH118, PTH120, PTH123, S102, S606

import _signal  # type: ignore[import-not-found]
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType, TracebackType
    from typing import Any


STARTED_NS = time.time_ns() - 10_000_000
"""The files' own clock goes in steps of up to 10 ms."""
WORKSPACE = os.environ.get("PODIUM_WORKSPACE", "")


def solution_files() -> frozenset[str]:
    named = os.environ.get("PODIUM_SOLUTION_FILES", "")
    return frozenset(os.path.realpath(os.path.join(WORKSPACE, path)) for path in named.split(":") if path)


def announce_end() -> None:
    """Tell the tracer. Without one the variable is absent, because the signal would be deadly."""
    number = os.environ.get("PODIUM_END_SIGNAL", "")
    if number:
        _signal.raise_signal(int(number))


def is_untrusted(path: str, files: frozenset[str]) -> bool:
    """Whether code of this file may be the solution's: its own, or written since the start."""
    path = os.path.realpath(path)
    if path in files:
        return True
    try:
        return is_inside(path) and os.stat(path).st_ctime_ns > STARTED_NS
    except OSError:
        return False


def is_inside(path: str) -> bool:
    return path.startswith(os.path.realpath(WORKSPACE) + os.sep)


def passes_through(traceback: "TracebackType | None", files: frozenset[str]) -> bool:
    while traceback is not None:
        if is_untrusted(traceback.tb_frame.f_code.co_filename, files):
            return True
        traceback = traceback.tb_next
    return False


def is_harness_s(frame: "FrameType | None", main: dict[str, object], untrusted: frozenset[str]) -> bool:
    """Whether a call was made by the harness's own code, and not on behalf of the solution's."""
    found = False
    while frame is not None:
        path = os.path.realpath(frame.f_code.co_filename)
        if is_untrusted(path, untrusted):
            return False
        found = found or frame.f_globals is main or (is_inside(path) and os.path.isfile(path))
        frame = frame.f_back
    return found


def announce_before_leaving(main: dict[str, object], untrusted: frozenset[str]) -> None:
    """Have the harness's own `os._exit(0)` and `os.exec…` announce its end, as the end of its script does."""

    def announcing(leave: "Callable[..., Any]", *, has_status: bool) -> "Callable[..., Any]":
        def left(*arguments: "Any", **named: "Any") -> "Any":
            is_end = not has_status or (*arguments, *named.values()) == (0,)
            if is_end and is_harness_s(sys._getframe().f_back, main, untrusted):
                announce_end()
            return leave(*arguments, **named)

        return left

    for name in ("_exit", "execv", "execve"):  # the others of the family call these
        setattr(os, name, announcing(getattr(os, name), has_status=name == "_exit"))


def show(error: BaseException, traceback: "TracebackType | None") -> None:
    """Shows an uncaught error as the interpreter does: without the launcher's own frames."""
    sys.excepthook(type(error), error.with_traceback(traceback), traceback)


def run(code: "CodeType", namespace: dict[str, object], untrusted: frozenset[str]) -> None:
    """Execute as the interpreter would. SystemExit out of an `untrusted` file is not the harness's end."""
    announce_before_leaving(namespace, untrusted)
    try:
        exec(code, namespace)
    except SystemExit as stop:
        if stop.code in (None, 0) and not passes_through(stop.__traceback__, untrusted):
            announce_end()
        raise
    except BaseException as error:  # noqa: BLE001 - shown and turned into a status, as the interpreter does
        show(error, error.__traceback__.tb_next if error.__traceback__ else None)
        sys.exit(130 if isinstance(error, KeyboardInterrupt) else 1)
    announce_end()


def fresh_main(path: str | None) -> dict[str, object]:
    """A `__main__` like the one the interpreter makes for a script (or, without a path, for -c)."""
    module = type(sys)("__main__")
    namespace = module.__dict__
    namespace.update(__builtins__=sys.modules["builtins"], __annotations__={})
    if path is not None:
        loader = sys.modules["_frozen_importlib_external"].SourceFileLoader("__main__", path)
        namespace.update(__file__=path, __cached__=None, __loader__=loader)
    sys.modules["__main__"] = module
    return namespace


def set_first_path(folder: str) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = folder


def run_script(script: str) -> None:
    path = os.path.abspath(script)
    try:
        with open(path, "rb") as source:
            text = source.read()
    except OSError as error:
        sys.stderr.write(f"{sys.executable}: can't open file {path!r}: [Errno {error.errno}] {error.strerror}\n")
        sys.exit(2)
    set_first_path(os.path.dirname(os.path.realpath(path)))
    run(compiled(text, path), fresh_main(path), solution_files())


def compiled(text: str | bytes, path: str) -> "CodeType":
    try:
        return compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        show(error, None)
        sys.exit(1)


def run_module(name: str) -> None:
    set_first_path(os.getcwd())
    del sys.modules["__main__"]
    namespace = fresh_main(None)
    import runpy

    untrusted = solution_files()
    namespace["_run_module_as_main"] = runpy._run_module_as_main  # type: ignore[attr-defined]
    sys.argv[0] = name
    run(compile(f"_run_module_as_main({name!r})", "<podium>", "exec"), namespace, untrusted)


def main() -> None:
    del sys.argv[0]
    first = sys.argv[0]
    if first == "-m":
        del sys.argv[0]
        run_module(sys.argv[0])
    elif first == "-c":
        code = sys.argv.pop(1)
        set_first_path("")
        run(compiled(code, "<string>"), fresh_main(None), solution_files())
    elif os.path.isdir(first) or first.endswith((".zip", ".pyz", ".pyc")):
        os.execv(sys.executable, [sys.executable, *sys.argv])
    else:
        run_script(first)


main()
