"""Signals from the leaderboard to the fleet, sent inside the transaction that changes the rows."""

from dataclasses import dataclass

from django.dispatch import Signal

evaluations_queued = Signal()
"""Arguments: `evaluation_ids` (list), `priority` (int). The fleet makes their jobs."""

evaluations_cancelled = Signal()
"""Arguments: `evaluation_ids` (list). The fleet cancels queued jobs and asks running ones to stop.

A receiver may return the ids of the evaluations that an attempt began."""

trials_queued = Signal()
"""Arguments: `trial_ids` (list), `priority` (int). The fleet makes their jobs."""

pmpp_runs_queued = Signal()
"""Arguments: `run_id` (int), `n_before` (int): open runs of the same token. The fleet makes the job."""

work_foreseen = Signal()
"""Arguments: `attempts` (query of attempts' ids), `track`. A receiver returns what doing their work again takes."""


@dataclass(frozen=True)
class Foreseen:
    """`seconds`: what `n_timed` of the attempts took together. `n_nodes`: online nodes that run the track's jobs."""

    seconds: float
    n_timed: int
    n_nodes: int
