"""Results of podium-gpu's kernels, their PTX run by an interpreter, since CI has no GPU."""

import struct
import subprocess
from collections.abc import Sequence

import numpy as np
import pytest

from runners.agent.devices.tool import GpuTool
from runners.agent.ground.native import default_cache_directory
from tests.agent import fake_gpu
from tests.agent.ptx import MATHS, Kernels

pytestmark = pytest.mark.skipif(not fake_gpu.present(), reason="needs g++")
WORD = 0x5C5C5C5C5C5C5C5C
ALL_BITS = (1 << 64) - 1
COUNTER, ONE, OTHER = 0, 4096, 16384
SIZES = [0, 1, 7, 32, 33, 100, 257]


class Gpu:
    """Memory of 32 KiB and a few threads, in steps of which every kernel must walk."""

    def __init__(self, kernels: Kernels) -> None:
        self._kernels = kernels
        self.memory = bytearray(32768)

    def launch(self, name: str, *parameters: int, grid: int = 2, block: int = 4) -> None:
        self._kernels.launch(name, grid, block, parameters, self.memory)

    def words(self, at: int, n_words: int) -> Sequence[int]:
        return struct.unpack_from(f"<{n_words}Q", self.memory, at)


@pytest.fixture(scope="module")
def kernels() -> Kernels:
    program = GpuTool.build(default_cache_directory()).program
    return Kernels(subprocess.run([program, "ptx"], capture_output=True, text=True, check=True).stdout)


@pytest.fixture
def gpu(kernels: Kernels) -> Gpu:
    return Gpu(kernels)


@pytest.mark.parametrize("pairs", SIZES)
def test_filling_writes_every_word_and_none_beyond(gpu: Gpu, pairs: int) -> None:
    gpu.launch("fill", ONE, pairs, WORD)
    assert gpu.words(ONE, 2 * pairs + 2) == (WORD,) * 2 * pairs + (0, 0)
    assert gpu.words(ONE - 16, 2) == (0, 0)


@pytest.mark.parametrize("pairs", SIZES)
def test_counting_finds_each_word_once(gpu: Gpu, pairs: int) -> None:
    gpu.launch("fill", ONE, pairs + 5, WORD)
    if pairs:
        struct.pack_into("<Q", gpu.memory, ONE + 16 * pairs - 8, WORD ^ 1)
    gpu.launch("count", ONE, pairs, WORD, COUNTER)
    assert gpu.words(COUNTER, 1) == (max(0, 2 * pairs - 1),)


@pytest.mark.parametrize("pairs", SIZES)
def test_noise_depends_on_the_place_alone_and_never_repeats(gpu: Gpu, pairs: int) -> None:
    gpu.launch("noise", ONE, pairs, ALL_BITS, 0)
    gpu.launch("noise", OTHER, pairs, ALL_BITS, 0, grid=3)
    assert gpu.words(ONE, 2 * pairs) == gpu.words(OTHER, 2 * pairs)
    assert len(set(gpu.words(ONE, 2 * pairs))) == 2 * pairs


@pytest.mark.parametrize("pairs", SIZES)
def test_one_wrong_bit_is_one_differing_word(gpu: Gpu, pairs: int) -> None:
    for place in (ONE, OTHER):
        gpu.launch("noise", place, pairs, ALL_BITS, 0)
    gpu.launch("differ", ONE, pairs, OTHER, COUNTER)
    assert gpu.words(COUNTER, 1) == (0,)
    gpu.memory[OTHER + 8 * pairs] ^= 0x10
    gpu.launch("differ", ONE, pairs, OTHER, COUNTER)
    assert gpu.words(COUNTER, 1) == (int(pairs > 0),)


@pytest.mark.parametrize(
    ("dtype", "keep", "set_bits"),
    [
        (np.float64, 0x800FFFFFFFFFFFFF, 0x3FE0000000000000),
        (np.float32, 0x807FFFFF807FFFFF, 0x3F0000003F000000),
        (np.float16, 0x83FF83FF83FF83FF, 0x3800380038003800),
    ],
)
def test_noise_makes_good_numbers_of_a_data_type(gpu: Gpu, dtype: type, keep: int, set_bits: int) -> None:
    gpu.launch("noise", ONE, 64, keep, set_bits)
    numbers = np.frombuffer(gpu.memory, dtype, 1024 // np.dtype(dtype).itemsize, ONE).astype(float)
    assert np.all((np.abs(numbers) >= 0.5) & (np.abs(numbers) < 1))
    assert -0.3 < numbers.mean() < 0.3
    assert len(set(numbers)) > 100


def logistic_bits(lane: int, turns: int) -> int:
    bits = 0
    for chain in range(8):
        x = np.float32((8 * lane + chain + 1) / 512)
        for _ in range(turns * 5):
            t = np.float32(3.99) * x
            x = np.float32(MATHS.fmaf(-float(t), float(x), float(t)))
        bits ^= int(x.view(np.uint32))
    return bits


def test_the_golden_kernel_computes_what_the_program_expects_of_it(gpu: Gpu) -> None:
    gpu.launch("logistic", 0, 4, grid=1, block=64)
    assert struct.unpack_from("<64I", gpu.memory) == tuple(logistic_bits(index % 32, 4) for index in range(64))


@pytest.mark.parametrize("kernel", ["fma32", "fma64"])
def test_multiply_adds_are_as_many_as_are_counted(gpu: Gpu, kernel: str) -> None:
    """Each of 8 chains begins at index + chain and has 16 links a turn: x = 0.9999 x + 0.001."""
    gpu.launch(kernel, 0, 2, grid=1)
    decay = 0.9999**32
    expected = [sum((i + k) * decay + 10 * (1 - decay) for k in range(8)) + 0.001 for i in range(4)]
    assert np.frombuffer(gpu.memory, np.float32, 4) == pytest.approx(expected, rel=1e-5)
