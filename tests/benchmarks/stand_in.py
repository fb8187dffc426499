"""A source tree whose `podium` grades at once: what its processes were asked for stands in the file `calls`."""

import json
from pathlib import Path

PROGRAM = """
import json, os, sys, tarfile, time
from pathlib import Path

TREE = Path(__file__).parents[1]
command, *rest = sys.argv[1:]
if command == "prepare":
    sys.exit(0)
options = dict(zip(rest[::2], rest[1::2], strict=True))
out = Path(options["--out"])
var = Path(os.environ["PODIUM_VAR_DIR"])
call = [TREE.name, out.stem, "built" if var.is_dir() else "new", options.get("--timing", "")]
with (TREE.parent / "calls").open("a") as calls:
    calls.write(json.dumps(call) + "\\n")
var.mkdir(parents=True, exist_ok=True)
if (TREE / "fails").exists():
    sys.exit((TREE / "fails").read_text())
if "--events" in options:
    turns = [("open", 1), ("close", 3)]
    who = {"event": "TurnChanged", "task_id": "t/0", "is_reference": False, "alone": True}
    lines = [json.dumps(who | {"change": change, "at_ns": at_s * 10**9}) for change, at_s in turns]
    Path(options["--events"]).write_text("".join(line + "\\n" for line in lines))
with tarfile.open(options["--problems"]) as pack:
    names = [name for name in pack.getnames() if name.endswith(".jsonl")]
    tasks = [json.loads(line)["task_id"] for name in names for line in pack.extractfile(name)]
done = [json.loads(line)["task_id"] for line in out.read_text().splitlines()] if out.exists() else []
for task in tasks:
    if task in done:
        continue
    ms = {"t/0": 0.05, "t/1": 4.0}.get(task, 10.0)
    row = {"task_id": task, "passed": True, "solution_time": ms, "baseline_time": ms, "speedup": 1.0}
    with out.open("a") as file:
        file.write(json.dumps(row) + "\\n")
    if (TREE / "slow").exists():
        time.sleep(60)
"""


def make_tree(folder: Path) -> Path:
    (folder / "podium").mkdir(parents=True)
    (folder / "podium" / "__init__.py").write_text("")
    (folder / "podium" / "cli.py").write_text(PROGRAM)
    return folder


def calls(folder: Path) -> list[tuple[str, ...]]:
    """The calls of all trees in the folder: the tree, the run, whether its builds were there, and its timing policy."""
    path = folder / "calls"
    return [tuple(json.loads(line)) for line in path.read_text().splitlines()] if path.is_file() else []
