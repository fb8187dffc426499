"""Whether an entrant's results are what the example says of its samples: verdicts, and times that count or must not."""

from collections.abc import Sequence

from tests.gpu.fleet.packs import EntrantPack
from tests.gpu.fleet.participant import Row
from tests.gpu.fleet.report import Report


def check_results(name: str, rows: Sequence[Row], pack: EntrantPack, report: Report) -> None:
    """Tell, keep and check every row."""
    report.say(f"{name}: {len(rows)} evaluations")
    for row in rows:
        report.keep({"entrant": name, **row})
        report.say(f"  {_line(row)}")
        _check(name, row, pack, report)
    graded = {(row["task_id"], row["sample"]) for row in rows}
    report.check(graded == set(pack.expected), f"{name}: graded {sorted(graded)}, sent {sorted(pack.expected)}")


def _check(name: str, row: Row, pack: EntrantPack, report: Report) -> None:
    key, verdict, first, flags = (row["task_id"], row["sample"]), row.get("verdict"), _measured(row), _flags(row)
    expected = pack.expected.get(key)
    report.check(verdict == expected, f"{name} {key}: {verdict}, expected {expected}")
    if verdict != "passed":
        return
    if key in pack.uncredited:
        report.check(not first.get("ranks") or bool(flags), f"{name} {key} is a cheat, and its time counts")
    else:
        report.check(bool(first.get("ranks")), f"{name} {key} has no time that ranks; flags {flags}")


def _measured(row: Row) -> Row:
    """The first measurement; {} where there is none."""
    return dict((row.get("measurements") or [{}])[0])


def _flags(row: Row) -> list[str]:
    return [one["code"] for one in row.get("flags") or []]


def _line(row: Row) -> str:
    first = _measured(row)
    speedup = f"{row['speedup']:.3f}" if row.get("speedup") else "-"
    profiler = (row.get("provenance") or {}).get("profiler") or "-"
    return (
        f"{row['task_id']} #{row['sample']}: {row.get('verdict')}"
        f" | time {_median(first)} ({len(first.get('runs_ms') or [])} runs)"
        f" baseline {_median(first.get('baseline') or {})} speedup {speedup}"
        f" | ranks {first.get('ranks')} flags {_flags(row) or '-'}"
        f" | clock {first.get('clock') or '-'}, profiler {profiler} | witness {row.get('witness')}"
        + (f" | {row['reason'][:100]}" if row.get("reason") else "")
    )


def _median(measured: Row) -> str:
    return f"{measured['median_ms']:.4f} ms" if measured.get("median_ms") else "-"
