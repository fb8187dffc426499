"""A node that lies, floods or babbles: it can spoil its own results, and nothing else."""

import hashlib
import json
from typing import Any

import pytest

from leaderboard import blobs
from leaderboard.models import Measurement, Result, Sample
from runners.fleet.attempts import uploads
from runners.fleet.models import Attempt
from runners.wire.protocol import (
    PROTOCOL_VERSION,
    BlobRef,
    Clock,
    LogText,
    MeasurementReport,
    Provenance,
    Report,
    Role,
    StepReport,
    Verdict,
)
from tests.fleet.site import Site, WireNode, add_node, passed
from tests.made_once import copied, of_module

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def _make() -> Site:
    made = Site.make()
    made.submit({"a/1": ["exit 0"], "a/2": ["exit 7"]})
    return made


made_site = of_module(_make)


site = copied


@pytest.fixture
def node() -> WireNode:
    return WireNode()


def with_log(sha256: str) -> Report:
    log = LogText(blob=BlobRef(sha256=sha256, size_bytes=10))
    return passed(steps=[StepReport(name="build", exit_code=0, log=log)])


def test_it_cannot_show_a_blob_that_it_never_had_as_a_log(site: Site, node: WireNode) -> None:
    work = node.take()
    foreign = Sample.objects.exclude(solution_sha256=work["solution"]["sha256"]).get().solution_sha256
    assert blobs.store().has(foreign)
    answer = node.report(work, with_log(foreign))
    assert (answer.status_code, answer.json()["missing"]) == (422, [foreign])
    assert node.blob(work, foreign, b"a guess").status_code == 422
    assert node.report(work, with_log(foreign)).status_code == 422


def test_it_cannot_show_a_blob_that_it_never_had_as_machine_code(site: Site, node: WireNode) -> None:
    work = node.take()
    foreign = Sample.objects.exclude(solution_sha256=work["solution"]["sha256"]).get().solution_sha256
    answer = node.report(work, passed(listing=BlobRef(sha256=foreign, size_bytes=10)))
    assert (answer.status_code, answer.json()["missing"]) == (422, [foreign])


def test_it_cannot_ask_which_blobs_the_site_has(site: Site, node: WireNode) -> None:
    work = node.take()
    foreign = Sample.objects.exclude(solution_sha256=work["solution"]["sha256"]).get().solution_sha256
    headers = {"Authorization": f"Bearer {node.token}", "X-Podium-Attempt": work["attempt_token"]}
    answer = node.http.head(f"/api/node/v1/attempts/{work['attempt']}/blobs/{foreign}", headers=headers)
    assert answer.status_code == 404


def test_an_attempt_brings_no_more_than_its_share(site: Site, node: WireNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "MAX_UPLOADED_BYTES", 100)
    work = node.take()
    assert put(node, work, b"x" * 60).status_code == 201
    assert put(node, work, b"x" * 60).status_code == 200
    answer = put(node, work, b"y" * 60)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_much")
    assert put(node, work, b"y" * 40).status_code == 201


def test_an_attempt_that_has_ended_brings_nothing_new(site: Site, node: WireNode) -> None:
    work = node.take()
    put(node, work, b"a log")
    node.report(work)
    assert put(node, work, b"a log").status_code == 200
    assert put(node, work, b"more").status_code == 409


def test_half_a_blob_leaves_nothing_behind(site: Site, node: WireNode) -> None:
    work = node.take()
    assert node.blob(work, "0" * 64, b"not that").status_code == 422
    assert Attempt.objects.get(pk=work["attempt"]).uploads == {}
    assert not blobs.store().has("0" * 64)


def put(node: WireNode, work: dict[str, Any], content: bytes) -> Any:
    return node.blob(work, hashlib.sha256(content).hexdigest(), content)


def test_what_it_says_is_kept_under_its_own_name(site: Site, node: WireNode) -> None:
    node.report(node.take(), Report(verdict=Verdict.PASSED, provenance=Provenance(node="the-honest-one")))
    assert Result.objects.get().provenance["node"] == "node-1"


def test_its_baselines_are_no_other_nodes(site: Site, node: WireNode) -> None:
    add_node("node-2", site.track, "second")
    node.report(node.take(), passed(measurements=pair(baseline_ms=1e6)))
    honest = WireNode(token="second")
    honest.report(honest.take() | {}, passed(measurements=pair(baseline_ms=10)))
    medians = Measurement.objects.filter(role="baseline").order_by("id").values_list("median_ms", flat=True)
    assert list(medians) == [1e6, 10]


@pytest.mark.parametrize(("key", "case"), [("k" * 200, "c" * 199 + "{n}"), ("k" * 199 + "{n}", "")])
def test_shared_baselines_with_long_names_are_told_apart(site: Site, node: WireNode, key: str, case: str) -> None:
    long = [named(pair(baseline_ms=10.0 + n), key=key.format(n=n), case=case.format(n=n)) for n in range(2)]
    work = node.take()
    for _ in range(2):  # said twice
        assert node.report(work, passed(measurements=[one for both in long for one in both])).status_code == 200
    baselines = Measurement.objects.filter(role="baseline").order_by("id")
    assert list(baselines.values_list("median_ms", flat=True)) == [10.0, 11.0]
    assert {len(one.shared_key) for one in baselines} == {200}


def named(measurements: list[MeasurementReport], key: str, case: str) -> list[MeasurementReport]:
    return [one.model_copy(update={"key": key, "case": case}) for one in measurements]


def pair(baseline_ms: float) -> list[MeasurementReport]:
    baseline = MeasurementReport(role=Role.BASELINE, median_ms=baseline_ms, runs_ms=[], clock=Clock.OUTSIDE)
    return [
        baseline.model_copy(update={"shared": True, "key": "k"}),
        MeasurementReport(role=Role.CANDIDATE, median_ms=5, runs_ms=[], clock=Clock.OUTSIDE),
    ]


BEYOND = ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00+23:59"]
"""Moments that no database, or not each, can store as they are."""


@pytest.mark.parametrize("moment", BEYOND)
def test_a_measurement_at_a_time_beyond_the_calendar_is_stored(site: Site, node: WireNode, moment: str) -> None:
    timed = [one.model_copy(update={"measured_at": moment}) for one in pair(baseline_ms=10)]
    assert node.report(node.take(), passed(measurements=timed)).status_code == 200
    assert Measurement.objects.count() == 2


@pytest.mark.parametrize(("moment", "status"), list(zip(BEYOND, (400, 400, 200), strict=True)))
def test_a_golden_run_at_a_time_beyond_the_calendar_is_no_fault_of_the_site(
    site: Site, node: WireNode, moment: str, status: int
) -> None:
    run = {"gpu_uuid": "GPU-0", "name": "copy", "median_ms": 1, "low_ms": 1, "high_ms": 1, "ran_at": moment}
    answer = node._post("health", json.dumps({"protocol_version": PROTOCOL_VERSION, "golden": [run]}))
    assert answer.status_code == status, answer.content


@pytest.mark.parametrize("number", ["1e999", "-1", "0", "1e-300", "1e300", "NaN", '"12"'])
def test_a_number_that_is_no_time_is_refused(site: Site, node: WireNode, number: str) -> None:
    work = node.take()
    body = passed(measurements=pair(baseline_ms=77)).model_dump_json().replace("77.0", number)
    answer = node._post(f"attempts/{work['attempt']}/report", body, work["attempt_token"])
    assert answer.status_code == (200 if number == '"12"' else 400), answer.content
    assert Result.objects.count() == (number == '"12"')


def test_nul_in_texts_is_replaced_and_not_a_fault_of_the_site(site: Site, node: WireNode) -> None:
    work = node.take()
    assert node.heartbeat(work, tail="a\0b").status_code == 200
    assert Attempt.objects.get(pk=work["attempt"]).log_tail == "a\ufffdb"
    step = StepReport(name="test", exit_code=1, log=LogText(text="printed \0 and \\u0000"))
    report = passed(steps=[step], reason="\0").model_copy(update={"verdict": Verdict.TEST_FAILED})
    assert node.report(work, report).status_code == 200
    assert Result.objects.get().steps[0]["log"]["text"] == "printed \ufffd and \\u0000"


@pytest.mark.parametrize("body", ["", "[]", "null", '{"verdict": []}', "\xff", '{"verdict":"passed"}', "{" * 100_000])
def test_nonsense_is_refused_with_words(site: Site, node: WireNode, body: str) -> None:
    work = node.take()
    answer = node._post(f"attempts/{work['attempt']}/report", body, work["attempt_token"])
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


def test_a_log_of_a_broken_archive_is_shown_as_what_is_left(site: Site, node: WireNode) -> None:
    from leaderboard.results.logs import log_text

    for content in (b"\x1f\x8b", b"\x1f\x8b" + b"\0" * 50, b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + b"\xee" * 50):
        log = {"blob": {"sha256": blobs.store().put(content)}}
        assert log_text(log) == "The log is damaged."


def test_hello_with_nul_and_too_much_is_bounded(site: Site, node: WireNode) -> None:
    hello = {
        "protocol_version": PROTOCOL_VERSION,
        "capabilities": {"hostname": "a\0b", "gpus": [], "cpu_cores": 10**30},
    }
    assert node._post("hello", json.dumps(hello)).status_code in {200, 400}
    assert node._post("hello", "x" * (5 << 20)).status_code == 413


DEEP = ["[" * 100_000, "[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, "[" * 150 + "]" * 150]


@pytest.mark.parametrize("value", DEEP, ids=["open", "lists", "objects", "few"])
@pytest.mark.parametrize("field", ["", "capabilities", "golden", "cases", "provenance", "log_tail", "unknown"])
def test_deep_json_is_refused_at_every_address(site: Site, node: WireNode, field: str, value: str) -> None:
    work = node.take()
    body = json.loads(passed().model_dump_json()) | {"protocol_version": node.version, "stage": "both", "track": "x"}
    text = value if not field else json.dumps(body | {field: "@"}).replace('"@"', value)
    for path in ("hello", "health", "claim", *(f"attempts/{work['attempt']}/{end}" for end in ("heartbeat", "report"))):
        answer = node._post(path, text, work["attempt_token"])
        assert answer.status_code < 500, (path, answer.content[:300])
        assert len(value) < 1000 or answer.status_code == 400, path
