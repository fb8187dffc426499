"""Work that begins before it is known to be wanted, and is stopped where it turns out not to be."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event
from typing import TypeVar

from runners.agent.task import Unwatched, Watcher

Result = TypeVar("Result")


class Either(Event):
    """Set as soon as one of two events is."""

    def __init__(self, one: Event, other: Event) -> None:
        super().__init__()
        self._events = one, other

    def is_set(self) -> bool:
        return any(event.is_set() for event in self._events)


@contextmanager
def begun(work: Callable[[Watcher], Result], watcher: Watcher) -> Iterator[Callable[[], Result]]:
    """Do the work in a thread of its own; what is yielded waits for its result, or raises what it raised.

    Whoever leaves without having called that does not want it: the work is then cancelled, and nothing comes of it.
    """
    unwanted = Event()
    with ThreadPoolExecutor(1, thread_name_prefix="early") as pool:
        future = pool.submit(work, Unwatched(Either(watcher.cancelled, unwanted)))
        try:
            yield future.result
        finally:
            unwanted.set()
