"""One solution to a function problem: its language, the build of its program and the command that starts it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from problems.spec.function.dtypes import SPELLINGS
from problems.spec.function.language import language_of
from problems.spec.function.manifest import ManifestCase, Parameter
from problems.spec.function.problem import FunctionProblem, as_function
from problems.spec.function.signature import FILE_NAMES, Language
from problems.spec.solution import FileSolution, SourceFile
from runners.agent.devices.lanes import ANYWHERE, Place
from runners.agent.ground.errors import UnusableProblem
from runners.agent.job.building import BuildOrder
from runners.agent.job.job import Author, Job, files_of
from runners.agent.judges.function.inside.match import CALIBRATION_BYTES

INSIDE = Path(__file__).parent / "inside"
PROGRAM = "contestant"
STUB, CALL = "podium_contestant.cpp", "podium_call"
BUILD_SECONDS = 120.0
"""Limit on a build's time in seconds if the problem's limits name none."""
COMPILERS: Mapping[Language, str] = {
    "cpp": "g++ -std=c++17 -O3 -march=native -pthread",
    "cuda": "nvcc -std=c++17 -O3 -Xptxas -v -Xcompiler -pthread",
}
LISTING = "podium_listing.gz"
"""Path in a CUDA build's product: SASS and PTX of the program as text, compressed. Absent without `cuobjdump`."""
MAX_LISTING_BYTES = 2 << 20
"""Bytes of a compressed listing; a longer one is not kept."""
_MOST_OF_A_PART = 8 << 20
"""Bytes of SASS and of PTX before they are compressed."""
_BARE_SASS = r"sed -E -e '/^ *\/\* 0x[0-9a-f]+ \*\/$/d' -e 's/ *\/\* 0x[0-9a-f]+ \*\/$//'"
"""Drops the instructions' encodings."""
WRITE_LISTING = (
    "{ command -v cuobjdump > /dev/null && for part in sass ptx; do"
    f' echo "== $part"; timeout 20 cuobjdump -$part {PROGRAM} 2>&1 | {_BARE_SASS} | cat -s'
    f" | head -c {_MOST_OF_A_PART}; done | gzip -n > {LISTING}; :; }}"
)
"""A shell command that never fails."""


@dataclass(frozen=True)
class FunctionSubject:
    """The files of a job's solution, of its problem's reference, or of the judge's own, at a place."""

    job: Job
    files: tuple[SourceFile, ...]
    place: Place = ANYWHERE
    author: Author = Author.CONTESTANT

    @classmethod
    def of(cls, job: Job, place: Place = ANYWHERE) -> "FunctionSubject":
        return cls(job, files_of(job.solution), place)

    @cached_property
    def problem(self) -> FunctionProblem:
        """Raises RecordError for a problem of another kind."""
        return as_function(self.job.problem)

    @property
    def language(self) -> Language:
        """Raises UnusableProblem for files that the rules for solutions should have refused."""
        found = language_of(self.files[0]) if self.files else None
        if found is None:
            raise UnusableProblem("the solution is in no language that this judge knows")
        return found

    @property
    def stub(self) -> str:
        """The kind of the contestant's process: `native` or `python`."""
        return "native" if self.language in COMPILERS else "python"

    @property
    def reference(self) -> "FunctionSubject | None":
        """The same subject with the problem's own reference solution."""
        baseline = self.problem.reference
        if not isinstance(baseline, FileSolution):
            return None
        return replace(self, files=tuple(baseline.files), author=Author.PROBLEM)

    @property
    def filling(self) -> "FunctionSubject":
        """The same subject with a solution that fills its outputs from one `setup` to the next, in such a process.

        The cost of a call beyond the solution's own is calibrated with it.
        """
        if self.stub == "native":
            empty = SourceFile(path=FILE_NAMES[self.language], content="")
            return replace(self, files=(empty,), author=Author.JUDGE)
        content = filling_source(self.problem.manifest.parameters, self.problem.manifest.arrays, self.device)
        return replace(self, files=(SourceFile(path="solution.py", content=content),), author=Author.JUDGE)

    @property
    def device(self) -> str:
        """`cuda` or `cpu`, as torch names it."""
        return "cuda" if self.problem.device == "gpu" else "cpu"

    @property
    def build_order(self) -> BuildOrder | None:
        """The build of the contestant's program; None for Python."""
        if self.language not in COMPILERS:
            return None
        source, is_filling = self.files[0].path, self.author is Author.JUDGE
        manifest = self.problem.manifest
        call = FILLING_CALL[self.device] if is_filling else call_source(manifest.parameters, manifest.setup_places)
        call_path = f"{CALL}{Path(source).suffix if is_filling else '.cpp'}"  # nvcc takes a second for a .cu more
        own = {STUB: (INSIDE / "contestant.cpp").read_bytes(), call_path: call.encode()}
        compiled = f"{COMPILERS[self.language]} -o {PROGRAM} {source} {STUB} {call_path} -ldl"
        is_listed = self.language == "cuda" and not is_filling
        shell = f"{compiled} && {WRITE_LISTING}" if is_listed else compiled
        seconds = self.job.rules.limits.build_seconds or BUILD_SECONDS
        return BuildOrder(self.job, self.author, shell, self.inputs | own, tuple(self.inputs), seconds)

    @property
    def inputs(self) -> dict[str, bytes]:
        """The solution's files by path."""
        return {file.path: file.content.encode() for file in self.files}

    @property
    def command(self) -> str:
        """The shell command of the contestant's process."""
        if self.stub == "native":
            return f"exec ./{PROGRAM}"
        return "exec python3 -m judge.contestant"


FILLING_CALL = {
    "cpu": """\
#include <cstddef>
#include <cstring>
extern "C" size_t podium_sizes[64];
static bool fills = false;
extern "C" void podium_setup(void* const*) { fills = !fills; }
extern "C" void podium_call(void* const* arguments) {
    if (!fills) return;
    for (int index = 0; index < 64; ++index)
        if (podium_sizes[index] > 0) memset(arguments[index], 0, podium_sizes[index]);
}
""",
    "cuda": """\
#include <cstddef>
#include <cuda_runtime.h>
extern "C" size_t podium_sizes[64];
static bool fills = false;
extern "C" void podium_setup(void* const*) { fills = !fills; }
extern "C" void podium_call(void* const* arguments) {
    static void* own = nullptr;
    if (own == nullptr) cudaMalloc(&own, CALIBRATION_BYTES);
    cudaMemsetAsync(own, 0, CALIBRATION_BYTES);
    if (!fills) return;
    for (int index = 0; index < 64; ++index)
        if (podium_sizes[index] > 0) cudaMemsetAsync(arguments[index], 0, podium_sizes[index]);
}
""".replace("CALIBRATION_BYTES", str(CALIBRATION_BYTES)),
}
"""C++ that fills the outputs from one `setup` to the next, by device. On a GPU every call fills memory of its own."""


def filling_source(parameters: Sequence[Parameter], arrays: str, device: str) -> str:
    """Python that fills the outputs from one `setup` to the next. On a GPU every call fills memory of its own."""
    fill = "arguments[{}].zero_()" if arrays == "torch" else "arguments[{}][...] = 0"
    fills = [f"        {fill.format(index)}" for index, one in enumerate(parameters) if one.is_written]
    head, call = FILLING_OWN[device]
    setup = ["def setup(*_):", "    global fills", "    fills = not fills"]
    return "\n".join([*head, "fills = False", *setup, "def solution(*arguments):", *call, "    if fills:", *fills, ""])


FILLING_OWN: dict[str, tuple[list[str], list[str]]] = {
    "cpu": ([], []),
    "cuda": (
        [
            "import ctypes, torch",
            "fill = ctypes.CDLL('libcuda.so.1').cuMemsetD8Async",
            "fill.argtypes = [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, ctypes.c_void_p]",
            f"own = torch.empty({CALIBRATION_BYTES}, dtype=torch.uint8, device='cuda')",
        ],
        [f"    fill(own.data_ptr(), 0, {CALIBRATION_BYTES}, torch.cuda.current_stream().cuda_stream)"],
    ),
}
"""Lines at the head and in `solution`, by device."""


def call_source(parameters: Sequence[Parameter], setup_places: Sequence[int] = ()) -> str:
    """C++ of `podium_call`, which casts the arguments and calls `solution`, and of `podium_setup`.

    Pointers are declared `void*`: C passes them all alike, so the solution may name its own types.
    """
    head = "#include <cstddef>\n#include <cstdint>\n"
    places = range(len(parameters))
    setup = f"if (setup) setup({_given(parameters, setup_places)});" if setup_places else ""
    return (
        f'{head}extern "C" void solution({_declared(parameters, places)});\n'
        f'extern "C" __attribute__((weak)) void setup({_declared(parameters, setup_places)});\n'
        f'extern "C" void podium_call(void* const* arguments) {{ solution({_given(parameters, places)}); }}\n'
        f'extern "C" void podium_setup(void* const* arguments) {{ {setup} }}\n'
    )


def _declared(parameters: Sequence[Parameter], places: Sequence[int]) -> str:
    chosen = [parameters[place] for place in places]
    return ", ".join("void*" if one.kind == "array" else SPELLINGS[one.dtype].c for one in chosen)


def _given(parameters: Sequence[Parameter], places: Sequence[int]) -> str:
    return ", ".join(_argument(place, parameters[place]) for place in places)


def with_own_case(problem: FunctionProblem, sizes: Mapping[str, int]) -> FunctionProblem:
    """The problem with one case more at its end, of a contestant's own sizes; the same problem without sizes."""
    if not sizes:
        return problem
    name = ", ".join(f"{name} = {length}" for name, length in sizes.items())[:200]
    own = ManifestCase(name=name, scalars=dict(sizes))
    manifest = problem.manifest.model_copy(update={"cases": [*problem.manifest.cases, own]})
    return problem.model_copy(update={"manifest": manifest})


def _argument(index: int, parameter: Parameter) -> str:
    if parameter.kind == "array":
        return f"arguments[{index}]"
    return f"*static_cast<const {SPELLINGS[parameter.dtype].c}*>(arguments[{index}])"
