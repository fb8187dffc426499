"""The rules of the porter: the order and length of turns at a device and of starts beside them, in driven time."""

import pytest

from tests.agent.gate_players import Player
from tests.agent.stepped_porter import Stage

LOOK_MS = 0.5
"""The porter's largest delay, as it looks at most pages every fourth time only."""
IDLE_MS, UNSETTLED_MS = 0.2, 0.5
GAP_MS, GAPS_MS = 5.0, 40.0
STARTS, START_MS, QUIET_MS, LACKED_MS = 2, 500.0, 100.0, 1000.0
"""As in rules.h."""


def take_turn(stage: Stage, player: Player, ms: float = 0.0) -> None:
    player.ask()
    assert player.work()
    stage.pass_ms(ms)
    player.rest()


def waited_to_start_ms(stage: Stage, player: Player) -> float:
    ((since, until),) = stage.waits_to_start_ms(player)
    return until - since


def test_programs_start_two_at_a_time(stage: Stage) -> None:
    players = [stage.player() for _ in range(STARTS + 1)]
    for player in players:
        player.want_start()
        stage.pass_ms(1)
    assert [player.may_start for player in players] == [True, True, False]
    stage.pass_ms(200)
    assert not players[STARTS].may_start
    players[1].have_started()
    stage.pass_ms(1)
    assert players[STARTS].may_start
    assert waited_to_start_ms(stage, players[STARTS]) == pytest.approx(200, abs=2)
    assert waited_to_start_ms(stage, players[0]) < LOOK_MS


def test_a_start_that_makes_no_context_keeps_others_for_a_while_only(stage: Stage) -> None:
    players = [stage.player() for _ in range(STARTS + 1)]
    for player in players:
        player.want_start()
        stage.pass_ms(1)
    assert stage.until(lambda: players[STARTS].may_start)
    assert waited_to_start_ms(stage, players[STARTS]) == pytest.approx(START_MS, abs=3)


def test_nothing_starts_in_the_first_turns_of_a_benchmark_and_then_beside_it(stage: Stage) -> None:
    one, two = stage.player(), stage.player()
    one.ask()
    assert one.work()
    two.want_start()
    assert stage.until(lambda: two.may_start)
    assert waited_to_start_ms(stage, two) == pytest.approx(QUIET_MS, abs=1)
    assert one.is_open


def test_a_benchmark_waits_for_those_that_start_before_its_first_turns_only(stage: Stage) -> None:
    one, two = stage.player(), stage.player()
    two.want_start()
    stage.pass_ms(1)
    assert two.may_start
    one.ask()
    stage.pass_ms(100)
    assert not one.is_open
    two.have_started()
    assert one.work()
    stage.pass_ms(QUIET_MS)
    one.rest()
    take_turn(stage, stage.player())
    two.want_start()
    assert stage.until(lambda: two.may_start)
    one.ask()
    stage.pass_ms(1)
    assert one.is_open, "while the other starts"


def test_what_starts_all_the_time_leaves_benchmarks_their_quiet(stage: Stage) -> None:
    starters = [stage.player() for _ in range(6)]
    benchmark = stage.player()
    for starter in starters:
        starter.want_start()
    stage.pass_ms(1)
    assert starters[0].may_start
    benchmark.ask()
    n_started = 0

    def is_open_though_all_start_again() -> bool:
        nonlocal n_started
        for starter in starters:
            if starter.may_start:
                n_started += 1
                starter.have_started()
                starter.want_start()
        return benchmark.is_open

    assert stage.until(is_open_though_all_start_again)
    assert n_started > 0


def test_who_has_waited_long_for_quiet_does_without(stage: Stage) -> None:
    starters = [stage.player() for _ in range(STARTS)]
    benchmark, other = stage.player(), stage.player()
    waits_ms = []
    for _ in range(4):
        for starter in starters:
            starter.want_start()
        assert stage.until(lambda: all(starter.may_start for starter in starters))
        asked_ms = stage.now_ms
        take_turn(stage, benchmark)
        waits_ms.append(stage.now_ms - asked_ms)
        for starter in starters:
            starter.have_started()
        take_turn(stage, other)
        assert not benchmark.is_open
    assert waits_ms[0] == pytest.approx(START_MS, abs=3), "the first time it waits for those that start"
    assert sum(waits_ms) == pytest.approx(LACKED_MS, abs=10)
    assert waits_ms[-1] <= 1, "after a second of that it waits no more"


def test_a_benchmark_starts_before_tests_that_asked_earlier(stage: Stage) -> None:
    tests = [stage.player(alone=False) for _ in range(STARTS + 1)]
    for test in tests:
        test.want_start()
        stage.pass_ms(1)
    benchmark = stage.player()
    benchmark.want_start()
    stage.pass_ms(1)
    tests[0].have_started()
    stage.pass_ms(1)
    assert benchmark.may_start
    assert not tests[STARTS].may_start
    tests[1].have_started()
    stage.pass_ms(1)
    assert tests[STARTS].may_start


@pytest.mark.parametrize(("unsettled", "kept_ms"), [(False, IDLE_MS), (True, UNSETTLED_MS)])
def test_work_that_nobody_has_waited_for_keeps_the_device_a_little_longer(
    stage: Stage, unsettled: bool, kept_ms: float
) -> None:
    one, other = stage.player(alone=False), stage.player()
    one.ask()
    assert one.work()
    other.ask()
    stage.pass_ms(1)
    one.rest(unsettled=unsettled)
    assert other.work()
    ((_, closed_ms),) = stage.turns_ms(one)
    assert kept_ms < closed_ms - one.last_use_ns / 1e6 <= kept_ms + LOOK_MS


def kept_through_gap_ms(stage: Stage, one: Player, other: Player, gap_ms: float) -> float:
    """For how long the first keeps the device that it leaves alone; 0 where it has lost it when the gap ends."""
    one.ask()
    assert one.work()
    other.ask()
    stage.pass_ms(1)
    one.rest()
    stage.pass_ms(gap_ms)
    kept_ms = gap_ms if one.is_open else 0.0
    if one.is_open:
        one.work()
        one.rest()
    assert other.work()
    other.rest()
    return kept_ms


def test_a_benchmark_keeps_its_turn_through_brief_gaps_until_they_add_up(stage: Stage) -> None:
    one, other = stage.player(), stage.player()
    kept_ms = [kept_through_gap_ms(stage, one, other, 0.3 * GAP_MS) for _ in range(100)]
    n_kept = sum(kept > 0.0 for kept in kept_ms)
    assert all(kept > 0.0 for kept in kept_ms[:n_kept]), "at first"
    assert GAPS_MS / 8 < sum(kept_ms) <= GAPS_MS


def test_a_benchmark_that_leaves_the_device_alone_for_long_keeps_it_no_more(stage: Stage) -> None:
    one, other = stage.player(), stage.player()
    for _ in range(3):
        one.ask()
        assert one.work()
        other.ask()
        one.rest()
        assert other.work()
        other.rest()
        stage.pass_ms(5 * GAP_MS)
    first_ms, *later_ms = (until - since for since, until in stage.turns_ms(one))
    assert first_ms == pytest.approx(GAP_MS, abs=1)
    assert max(later_ms) < GAP_MS / 2


@pytest.mark.parametrize(("ahead_ms", "first"), [(50, "brief"), (1500, "lengthy")])
def test_who_takes_brief_turns_waits_less_and_nobody_for_ever(stage: Stage, ahead_ms: float, first: str) -> None:
    lengthy, brief, taker = stage.player(), stage.player(), stage.player()
    take_turn(stage, lengthy, 300)
    take_turn(stage, brief, 10)
    taker.ask()
    assert taker.work()
    assert not (lengthy.is_open or brief.is_open)
    lengthy.ask()
    stage.pass_ms(ahead_ms)
    brief.ask()
    stage.pass_ms(50)
    taker.rest()
    assert stage.until(lambda: lengthy.is_open or brief.is_open)
    assert (lengthy.is_open, brief.is_open) == (first == "lengthy", first == "brief")


def test_tests_share_a_turn_and_none_enters_while_a_benchmark_has_it(stage: Stage) -> None:
    one, other, benchmark = stage.player(alone=False), stage.player(alone=False), stage.player()
    benchmark.ask()
    assert benchmark.work()
    one.ask()
    other.ask()
    stage.pass_ms(15)
    assert not (one.is_open or other.is_open)
    benchmark.rest()
    assert one.work()
    assert other.work()
    benchmark.ask()
    one.rest()
    stage.pass_ms(15)
    assert not benchmark.is_open
    other.rest()
    assert benchmark.work()
