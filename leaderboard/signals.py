"""What the leaderboard tells the fleet, sent inside the transaction that changes the rows."""

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
