"""A test built with sanitizers passes as it does outside of a sandbox."""

from runners.wire.protocol import Verdict
from tests.agent.machine import LIMITS, Machine
from tests.agent.test_cheating import HONEST, compiled


def test_a_sanitized_test_passes(machine: Machine) -> None:
    build = "g++ -fsanitize=address -I include -o test.out solution.cpp test/*.cpp"
    problem = compiled(build_command=build, benchmark_command=None)
    report = machine.judge(problem, {"solution.cpp": HONEST}, limits=LIMITS).report
    assert report.verdict == Verdict.PASSED, report.reason
