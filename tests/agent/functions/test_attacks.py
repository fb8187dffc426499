"""Ways to cheat a judge of function problems, each with an honest twin that does the same work by the same means.

The sources are in `attacks`; their first lines say what they try. A cheat must fail or gain nothing, and its twin must
pass: a judge that suspects honest means is no better.
"""

import os
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from problems.spec.record import ProblemRecord
from runners.wire.job import JobPurpose
from runners.wire.protocol import Verdict
from tests.agent.functions.table import Table, all_ms, problem, some_in_docker

SOURCES = Path(__file__).parent / "attacks"
MOST_GAIN = 0.05
MOST_SAMPLES = 12
LEAST_CALLS = 15
LEAST_MS = 5.0

SETTLE = """
class Settle(FunctionProblem):
    parameters = (Array("x", "float32", "in", ("n",)), Array("y", "float32", "out", ("n",)), Scalar("n", "size_t"))
    accuracy = Tolerance(rtol=1e-4, atol=1e-5, reason="rounds that converge")
    cases = (Case("one", n={n}),)

    def inputs(self, case, rng):
        return {{"x": rng.random(case.n, dtype=np.float32) * np.float32(0.75) + np.float32(0.25)}}

    def reference(self, case, x):
        return np.sqrt(x)
"""
FEW_ROUNDS = 24
"""The class has a reference that follows the rounds where they are too few for the root."""
UNSETTLED = SETTLE.replace(
    "        return np.sqrt(x)",
    f"""        y = x.copy()
        for start in range(0, case.n, 1 << 14):
            v, wanted = y[start : start + (1 << 14)], x[start : start + (1 << 14)]
            for _ in range({FEW_ROUNDS}):
                v += np.float32(0.125) * (wanted - v * v)
        return y""",
)
BESIDE = """
class Beside(FunctionProblem):
    parameters = (
        Array("x", "float32", "in", ("n",)), Array("y", "float32", "out", ("n",)),
        Array("means", "float32", "out", (16,)), Scalar("n", "size_t"),
    )
    accuracy = Tolerance(rtol=1e-4, atol=1e-5, reason="rounds that converge")
    cases = (Case("one", n=80_000),)

    def inputs(self, case, rng):
        return {"x": rng.random(case.n, dtype=np.float32) * np.float32(0.75) + np.float32(0.25)}

    def reference(self, case, x):
        y = np.sqrt(x)
        return y, np.sqrt(y).reshape(16, -1).mean(axis=1)
"""
"""As much work for one line of output as for all the others, which are another array."""
BEHIND = (
    BESIDE.replace('("n",)),\n        Array("means", "float32", "out", (16,))', '("m",))')
    .replace('Scalar("n", "size_t")', 'Scalar("n", "size_t"), Scalar("m", "size_t")')
    .replace("n=80_000", "n=80_000, m=80_016")
    .replace(
        "return y, np.sqrt(y).reshape(16, -1).mean(axis=1)",
        "return np.append(y, np.sqrt(y).reshape(16, -1).mean(axis=1))",
    )
)
"""The same as one array."""


@pytest.fixture(scope="module")
def small() -> ProblemRecord:
    """Enough work that an answer before its end is incomplete."""
    return problem(SETTLE.format(n=200_000))


@pytest.fixture(scope="module")
def wide() -> ProblemRecord:
    """As much work, with four times the outputs."""
    return problem(UNSETTLED.format(n=1 << 22))


@pytest.fixture(scope="module")
def large() -> ProblemRecord:
    """More than 5 ms of work on any machine."""
    return problem(SETTLE.format(n=1 << 22))


def attack(name: str, *, honest: bool = False, **settings: int) -> str:
    """The text of an attack, or of its honest twin."""
    settings = {"HONEST": int(honest), "ROUNDS": 160, "LEFT_SHARE": 4, "EVERY_US": 40, **settings}
    defined = "".join(f"#define {key} {value}\n" for key, value in settings.items())
    return defined + text_of("settle.h") + text_of(f"{name}.cpp")


def text_of(name: str) -> str:
    """A source with the files that it includes in quotes in their places."""
    return re.sub(r'#include "(.+)"', lambda found: text_of(found[1]), (SOURCES / name).read_text())


@dataclass(frozen=True)
class Fails:
    """An attack that does not pass: the verdict and words of its reason."""

    name: str
    verdict: Verdict
    words: str


FAILING = {
    one.name: one
    for one in (
        Fails("channel_forging", Verdict.TEST_FAILED, "sent an answer of its own"),
        Fails("loaded_forging", Verdict.WRONG_ANSWER, "Case one"),
        Fails("early_done", Verdict.WRONG_ANSWER, "Case one"),
        Fails("stop_fight", Verdict.WRONG_ANSWER, "Case one"),
        Fails("deferred_thread", Verdict.WRONG_ANSWER, "Case one"),
        Fails("pointer_memo", Verdict.WRONG_ANSWER, "Case one"),
        Fails("stale_output", Verdict.WRONG_ANSWER, "Case one"),
        Fails("input_mutation", Verdict.WRONG_ANSWER, "Case one"),
        Fails("super_batch", Verdict.WRONG_ANSWER, "Case one"),
        Fails("early_exit", Verdict.TEST_FAILED, "exit status 0 in case one before it had answered"),
    )
}
IN_DOCKER = ("channel_forging", "stop_fight", "early_exit")
"""The channel through the container's door, the brake upon its processes, and an end that the engine tells."""


TOLD_BY_TIME = ("input_watcher", "clock_patch", "delta_update", "sigcont_timer")
TRIES_ON_A_BUSY_MACHINE = 4
"""Where others hold the checker's core after an answer, work that is left is done before the clock stops: such a pass
gains nothing."""


@some_in_docker(FAILING, IN_DOCKER)
def test_an_attack_that_cannot_hide_fails(table: Table, small: ProblemRecord, name: str) -> None:
    tried, report = FAILING[name], table.judge(small, attack(name)).report
    for _ in range(TRIES_ON_A_BUSY_MACHINE):
        if report.verdict is not Verdict.PASSED:
            break
        report = table.judge(small, attack(name)).report
    assert report.verdict is tried.verdict, report.reason
    assert re.search(tried.words, report.reason), report.reason
    assert not report.measurements


@pytest.mark.rest
@some_in_docker(FAILING, IN_DOCKER)
def test_the_honest_twin_of_an_attack_passes(table: Table, small: ProblemRecord, name: str) -> None:
    report = table.judge(small, attack(name, honest=True)).report
    assert (report.verdict, report.reason) == (Verdict.PASSED, "")


@pytest.mark.rest
@pytest.mark.parametrize("left_share", [2, 4, 8])
def test_work_that_goes_on_ahead_of_the_copy_is_seen(table: Table, wide: ProblemRecord, left_share: int) -> None:
    """Where the copy takes a third of the work's time, an answer so early would hide the work behind it."""
    report = table.judge(wide, attack("early_done", LEFT_SHARE=left_share, ROUNDS=FEW_ROUNDS)).report
    assert report.verdict is Verdict.WRONG_ANSWER, report.measurements
    honest = attack("early_done", honest=True, LEFT_SHARE=left_share, ROUNDS=FEW_ROUNDS)
    assert table.judge(wide, honest, purpose=JobPurpose.TRIAL).report.verdict is Verdict.PASSED


@pytest.mark.parametrize(("definition", "outputs"), [(BESIDE, 2), (BEHIND, 1)], ids=["beside", "behind"])
def test_work_on_one_line_after_the_answer_is_seen(table: Table, definition: str, outputs: int) -> None:
    one_line = problem(definition)
    report = table.judge(one_line, attack("late_line", OUTPUTS=outputs)).report
    assert report.verdict is Verdict.WRONG_ANSWER, report.measurements
    assert re.search(r"\b\d\d? of 80016 elements", report.reason), report.reason
    honest = attack("late_line", honest=True, OUTPUTS=outputs)
    assert table.judge(one_line, honest, purpose=JobPurpose.TRIAL).report.verdict is Verdict.PASSED


@pytest.mark.rest
@pytest.mark.skipif(
    not os.environ.get("PODIUM_QUIET_MACHINE"),
    reason="compares times of a few milliseconds: set PODIUM_QUIET_MACHINE=1 on a machine that does nothing else",
)
@some_in_docker(TOLD_BY_TIME, ())
def test_an_attack_that_passes_gains_nothing(table: Table, large: ProblemRecord, name: str) -> None:
    """Whether the timer is caught depends on when it fires; a stop also removes a signal of it that is under way."""
    gains_nothing(table, large, name)


@dataclass(frozen=True)
class Duel:
    """The calls of an attack and of its honest twin, in milliseconds, by sample."""

    attacks_ms: list[list[float]] = field(default_factory=list)
    twins_ms: list[list[float]] = field(default_factory=list)

    @property
    def is_lost(self) -> bool:
        """Whether there are enough calls of both, and the attack's are not better by both median and fastest call."""
        n_calls = min(sum(map(len, self.attacks_ms)), sum(map(len, self.twins_ms)))
        return n_calls >= LEAST_CALLS and not all(self._leads(of) for of in (statistics.median, min))

    @property
    def is_quiet(self) -> bool:
        """Whether the twin's samples agree as well as a lead is judged."""
        medians_ms = list(map(statistics.median, self.twins_ms))
        return max(medians_ms) <= (1 + MOST_GAIN) * min(medians_ms)

    def _leads(self, of: Callable[[list[float]], float]) -> bool:
        """Whether the attack's best sample is better than its twin's by more than noise."""
        return min(map(of, self.attacks_ms)) < (1 - MOST_GAIN) * min(map(of, self.twins_ms))


def gains_nothing(table: Table, record: ProblemRecord, name: str) -> None:
    """The attack fails, or its time is not a twentieth better than its twin's.

    Where other work makes the twin's own samples differ by more than that, the first of the attack's samples may have
    had the machine to itself, so there it must keep its lead in each of several tries. The twin passes in all.
    """
    for _ in range(TRIES_ON_A_BUSY_MACHINE):
        duel = Duel()
        if fails_or_loses(table, record, name, duel):
            return
        if duel.is_quiet:
            break
    raise AssertionError(f"{name} took {duel.attacks_ms} ms, its honest twin {duel.twins_ms} ms")


def fails_or_loses(table: Table, record: ProblemRecord, name: str, duel: Duel) -> bool:
    """Whether the attack fails or loses its lead.

    Attack and twin are judged in turn. Other work on this machine only lengthens a time, so the fastest sample of each
    counts. The attack must keep the lead over as many samples as it takes to rule out that noise gave it one.
    """
    for _ in range(MOST_SAMPLES):
        done = table.judge(record, attack(name))
        if done.report.verdict is not Verdict.PASSED:
            return True
        twin = table.judge(record, attack(name, honest=True))
        assert (twin.report.verdict, twin.report.reason) == (Verdict.PASSED, "")
        duel.attacks_ms.append(all_ms(done, "one"))
        duel.twins_ms.append(all_ms(twin, "one"))
        if duel.is_lost:
            assert min(map(statistics.median, duel.twins_ms)) >= LEAST_MS
            return True
    return False
