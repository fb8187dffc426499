"""What several threads want at once is made once, and made again when it is no longer fresh."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

from runners.agent.keyed import Once


def test_what_many_want_at_once_is_made_once() -> None:
    once: Once[str, int] = Once(4)
    ready, made = Barrier(4), []

    def make() -> int:
        made.append(1)
        return len(made)

    def get(_: int) -> int:
        ready.wait(5)
        return once.get("key", make)

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(get, range(4))) == [1] * 4


def test_what_is_no_longer_fresh_is_made_once_more_for_all_who_wait() -> None:
    stale: set[int] = set()
    once: Once[str, int] = Once(4, is_fresh=lambda value: value not in stale)
    assert [once.get("key", lambda: 1), once.get("key", lambda: 2)] == [1, 1]
    stale.add(1)
    begun, go_on = Event(), Event()

    def slow() -> int:
        begun.set()
        assert go_on.wait(5)
        return 3

    with ThreadPoolExecutor(3) as pool:
        first = pool.submit(once.get, "key", slow)
        assert begun.wait(5)
        others = [pool.submit(once.get, "key", lambda: 4) for _ in range(2)]
        go_on.set()
        assert [one.result(5) for one in (first, *others)] == [3, 3, 3]


def test_a_value_that_was_made_again_is_not_the_first_to_be_forgotten() -> None:
    stale: set[int] = set()
    once: Once[str, int] = Once(2, is_fresh=lambda value: value not in stale)
    once.get("old", lambda: 1)
    once.get("other", lambda: 2)
    stale.add(1)
    once.get("old", lambda: 3)
    once.get("newest", lambda: 4)
    assert once.get("old", lambda: 5) == 3
    assert once.get("other", lambda: 6) == 6
