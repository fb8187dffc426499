"""The runs of a folder so far, kept in a file so that several commands can share the work."""

from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from benchmarks.compute_eval_gpu.refused import BenchmarkRefused

PARTS = ("first", "second", "ranked", "rival")
NAME = "runs.json"


@dataclass(frozen=True)
class FolderSettings:
    """The settings that all runs of a folder share."""

    release: str
    problems: int
    profile: str


@dataclass(frozen=True)
class RunKey:
    """Which run of which evaluator: `commit` is Podium's, in part `rival` ComputeEval's."""

    part: str
    seed: int
    repeat: int
    commit: str

    @property
    def name(self) -> str:
        return f"{self.part}-{self.seed}-{self.repeat}-{self.commit}"


@dataclass(frozen=True)
class Piece:
    """One process of a run. `cpu_seconds` is the processor time of the process and all that it ran."""

    began_at: str
    command: str
    seconds: float
    cpu_seconds: float
    hardware: str
    cores: int
    machine: str


@dataclass(frozen=True)
class RunRecord:
    """A run and its processes: a run that a time limit cut off goes on in a further process."""

    key: RunKey
    pieces: tuple[Piece, ...]
    ended: bool

    @property
    def seconds(self) -> float:
        return sum(piece.seconds for piece in self.pieces)

    @property
    def is_whole(self) -> bool:
        """Whether its seconds are those of one process that did all the work."""
        return self.ended and len(self.pieces) == 1


@dataclass(frozen=True)
class Draw:
    """The problems of part `ranked`: drawn from `candidates` tasks that the first runs of these seeds timed."""

    seed: int
    from_seeds: tuple[int, ...]
    candidates: int
    tasks: tuple[str, ...]


@dataclass
class TaskState:
    settings: FolderSettings
    draws: dict[int, Draw] = field(default_factory=dict)
    """Draws by their seeds."""
    runs: list[RunRecord] = field(default_factory=list)


STATE = TypeAdapter(TaskState)


@dataclass(frozen=True)
class Record:
    """A folder and what it holds; all changes are written at once."""

    folder: Path
    state: TaskState

    @classmethod
    def open(cls, folder: Path, settings: FolderSettings) -> "Record":
        """The folder's, or a new one if the folder is empty or missing. Raises BenchmarkRefused."""
        path = folder / NAME
        if path.is_file():
            state = STATE.validate_json(path.read_bytes())
            if state.settings != settings:
                raise BenchmarkRefused(f"{folder} holds runs with other settings: {state.settings}.")
            return cls(folder, state)
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise BenchmarkRefused(
                f"{folder} is neither empty nor the folder of an earlier measurement: name a new one."
            )
        folder.mkdir(parents=True, exist_ok=True)
        found = cls(folder, TaskState(settings))
        found._save()
        return found

    def find(self, key: RunKey) -> RunRecord | None:
        return next((run for run in self.state.runs if run.key == key), None)

    def has_ended(self, key: RunKey) -> bool:
        run = self.find(key)
        return run is not None and run.ended

    def put(self, run: RunRecord) -> None:
        """Note a run, in place of what is known of it."""
        self.state.runs[:] = [*(one for one in self.state.runs if one.key != run.key), run]
        self._save()

    def put_draw(self, draw: Draw) -> None:
        self.state.draws[draw.seed] = draw
        self._save()

    def rows(self, key: RunKey) -> Path:
        """Its graded rows."""
        return self.folder / f"{key.name}.jsonl"

    def events(self, key: RunKey, piece: int) -> Path:
        """The events of its process number `piece`, counted from 0."""
        return self.folder / f"{key.name}-events-{piece}.jsonl"

    def _save(self) -> None:
        """Whole or not at all, since the command may be interrupted at any time."""
        draft = self.folder / f".{NAME}"
        draft.write_bytes(STATE.dump_json(self.state, indent=2) + b"\n")
        draft.replace(self.folder / NAME)
