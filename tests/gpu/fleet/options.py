"""Options of a run: the command line, and the difference that a GPU makes."""

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.processes import ROOT
from tests.gpu.fleet.needs import missing

BAD_INPUT = 2


@dataclass(frozen=True)
class Kind:
    """Which example is graded, whose samples, and how many times as patient a run is as on a machine with a GPU."""

    source: Path
    problems: tuple[str, ...]
    good: str
    flawed: str
    second: str
    most_second_samples: int
    patience: int

    @property
    def known(self) -> list[str]:
        return sorted(path.parent.name for path in (self.source / "problems").glob("*/problem-spec.yaml"))


GPU = Kind(
    source=ROOT / "examples" / "showcase",
    problems=("transpose", "row-softmax", "segmented-sum"),
    good="demo-tuned",
    flawed="demo-flawed",
    second="demo-naive",
    most_second_samples=1,
    patience=1,
)
CPU = Kind(
    source=ROOT / "examples" / "demo",
    problems=("cpp-sort-keys", "py-increasing-run", "cpp-matmul"),
    good="demo-tuned",
    flawed="demo-novice",
    second="demo-steady",
    most_second_samples=2,
    patience=3,  # a few shared cores do everything
)


@dataclass(frozen=True)
class Options:
    out: Path
    kind: Kind
    problems: tuple[str, ...]
    n_samples: int
    timing: str
    limit_seconds: int
    verifies: bool

    @property
    def has_gpu(self) -> bool:
        return self.kind is GPU

    @property
    def entrants(self) -> tuple[str, str, str]:
        return self.kind.good, self.kind.flawed, self.kind.second

    def samples_of(self, entrant: str) -> int:
        """How many samples of each problem it sends."""
        return min(self.n_samples, self.kind.most_second_samples) if entrant == self.kind.second else self.n_samples


def _parser(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.gpu.fleet",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--out", required=True, metavar="FOLDER", type=Path, help="for summary, results, pages and logs"
    )
    parser.add_argument("--problems", metavar="A,B", help="slugs of examples/showcase, with --cpu of examples/demo")
    parser.add_argument(
        "--samples", type=int, choices=(1, 2, 3), default=2, help="of each problem and entrant (%(default)s)"
    )
    parser.add_argument(
        "--timing", choices=("ranked", "quick"), default="ranked", help="the release's timing policy (%(default)s)"
    )
    parser.add_argument(
        "--limit-seconds", type=int, default=600, metavar="N", help="fail after so long in all (%(default)s)"
    )
    parser.add_argument("--verify", action="store_true", help="also let the organiser verify the release on the node")
    parser.add_argument("--cpu", action="store_true", help="grade the CPU demo's problems, for machines without a GPU")
    return parser


def parsed(description: str, arguments: list[str] | None) -> Options:
    """Ends the program with status 2 where the input is bad or the machine lacks something."""
    parser = _parser(description)
    given = parser.parse_args(arguments)
    kind: Kind = CPU if given.cpu else GPU
    problems = tuple(given.problems.split(",")) if given.problems else kind.problems
    if unknown := set(problems) - set(kind.known):
        parser.error(f"no such problems: {', '.join(sorted(unknown))}; there are {', '.join(kind.known)}")
    if given.limit_seconds < 1:
        parser.error("--limit-seconds must be at least 1")
    if complaint := missing(gpu=not given.cpu):
        sys.stderr.write(f"{complaint}\n")
        sys.exit(BAD_INPUT)
    return Options(
        out=given.out.resolve(),
        kind=kind,
        problems=tuple(dict.fromkeys(problems)),
        n_samples=given.samples,
        timing=given.timing,
        limit_seconds=given.limit_seconds,
        verifies=given.verify,
    )
