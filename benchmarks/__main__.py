"""`make bench`: every measure in a process of its own, so that none warms up or burdens the next."""

import subprocess
import sys

MEASURES = (
    "scoring",
    "coverage",
    "release_import",
    "acceptance",
    "questions",
    "board_page",
    "draft_lists",
    "big_site",
    "pmpp_callers",
    "agent_overhead",
    "throughput",
    "messages",
    "function_judge",
    "compute_eval_rival",
)


def main(words: list[str]) -> int:
    """Runs the named measures, or all; 1 when any misses a limit or fails. Options go to every measure named."""
    at = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    names, options = words[:at], words[at:]
    if options and not names:
        print("name the measure that the options are for")
        return 2
    missed = []
    for name in names or MEASURES:
        print(f"— {name}", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=False).returncode:
            missed.append(name)
    if missed:
        print(f"missed or failed: {', '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
