"""`podium reproduce` against a running site: a published sample is judged again by the judges of this machine."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leaderboard.actions.intake.submit import submit
from leaderboard.intake.catalogue import catalogue_of
from leaderboard.models import Evaluation
from leaderboard.rows.submissions import SubmissionMetadata
from podium.remote import site_config
from podium.remote.site_config import Site
from podium.reproduction.published import CannotReproduce, client_for
from problems.formats.compute_eval.packs import write_problem_pack
from problems.formats.submission import read_submission
from problems.models import Release
from runners.agent.capabilities import cpu_model
from runners.wire.protocol import Clock, MeasurementReport, Provenance, Report, Role, Verdict, Witness
from tests import factories, function_site, packs
from tests.agent.functions.table import SCALE, SCALE_CPP, problem
from tests.agent.machine import sandbox_name, temporary_folder
from tests.podium_cli.test_remote import Shell

pytestmark = pytest.mark.django_db(transaction=True)
REPRODUCED, DIFFERS, REFUSED, PARTLY = 0, 1, 2, 4
WIDE, FAST = (0.001, 60_000.0), (0.001, 0.002)
"""Intervals in ms, of which any process lies inside, and no process."""


def published(
    verdict: Verdict = Verdict.PASSED, ends_ms: tuple[float, float] | None = WIDE, cpu: str = "", **changes: Any
) -> Report:
    """As the node of another day reported it."""
    low, high = ends_ms or (None, None)
    timed = MeasurementReport(
        role=Role.CANDIDATE, median_ms=low or 1.0, ci_low_ms=low, ci_high_ms=high, runs_ms=[low or 1.0],
        clock=Clock.OUTSIDE, witness=Witness.SEEN,
    )  # fmt: skip
    measured = [timed, timed.model_copy(update={"role": Role.BASELINE})] if verdict is Verdict.PASSED else []
    provenance = Provenance(cpu_model=cpu or cpu_model(), timing_policy="quick", sandbox=sandbox_name())
    fields = {"verdict": verdict, "witness": Witness.SEEN, "measurements": measured, "provenance": provenance}
    return Report(**(fields | changes))


@dataclass
class Place:
    shell: Shell
    release: Release
    track: Any
    cast: factories.Cast
    url: str
    problems: Path

    def judged(self, report: Report, script: str = "exit 0", *, publishes: bool = True) -> Evaluation:
        """An evaluation of the first problem with this result; the entrant publishes its code if it says so."""
        type(self.cast.entrant).objects.filter(pk=self.cast.entrant.pk).update(publishes_code=publishes)
        made = factories.submission(self.cast.entrant, self.release, self.track, n_samples=1, script=script)
        factories.judge(made, lambda _: report)
        found: Evaluation = made.evaluations.order_by("problem__position").first()
        return found

    def reproduce(self, one: Evaluation | str, *more: str, whole: bool = True, **changes: str) -> Any:
        pack = ("--problems", str(self.problems)) if whole else ()
        named = one if isinstance(one, str) else str(one.pk)
        return self.shell.run("reproduce", named, "--sandbox", sandbox_name(), *pack, *more, **changes)


@pytest.fixture
def place(live_server: Any, cast: Any) -> Any:
    with temporary_folder() as name:
        folder = Path(name)
        yield made_place(live_server.url, cast, folder, factories.example_problem)


def made_place(url: str, cast: Any, folder: Path, problem: Any) -> Place:
    made = factories.release(1, problem=problem, timing_policy="quick")
    pack = folder / "test-1-problems.tar.gz"
    lines = [bytes(one.record) for one in made.problems.order_by("position")]
    write_problem_pack(pack, made.pack_metadata.encode(), b"".join(lines))
    variables = {"PODIUM_SITE_URL": url, "PODIUM_VAR_DIR": str(folder / "var")}
    return Place(Shell(folder, variables), made, factories.offer(made), cast, url, pack)


def test_a_sample_whose_verdict_and_time_agree_is_reproduced(place: Place) -> None:
    done = place.reproduce(place.judged(published()))
    assert done.returncode == REPRODUCED, done.stderr
    assert "Verdict: passed here, passed published." in done.stderr
    assert ": inside the published interval." in done.stderr
    assert done.stderr.rstrip().endswith(
        "Reproduced: the verdict is the same, and its time lies inside the published interval."
    )


def test_a_time_outside_of_its_interval_is_told_with_how_far_it_is_away(place: Place) -> None:
    done = place.reproduce(place.judged(published(ends_ms=FAST)), "--json")
    assert done.returncode == DIFFERS, done.stderr
    assert "above the published interval, " in done.stderr
    assert "Not reproduced: the verdict is the same, and 0 of 1 times lie inside their intervals." in done.stderr
    told = json.loads(done.stdout)
    assert (told["ending"], told["verdict"]["here"], told["times"][0]["place"]) == ("differs", "passed", "above")


def test_another_verdict_is_not_reproduced(place: Place) -> None:
    done = place.reproduce(place.judged(published(), script="exit 1"))
    assert done.returncode == DIFFERS, done.stderr
    assert "test failed" in done.stderr
    assert "Not reproduced: the verdict differs." in done.stderr
    failed = place.reproduce(place.judged(published(Verdict.TEST_FAILED), script="exit 3"))
    assert (failed.returncode, "Reproduced: the verdict is the same." in failed.stderr) == (REPRODUCED, True)


def test_a_time_without_a_published_interval_shows_only_how_far_it_is_away(place: Place) -> None:
    done = place.reproduce(place.judged(published(ends_ms=None)))
    assert done.returncode == PARTLY, done.stderr
    assert "no interval was published (n = 1)" in done.stderr


def test_other_hardware_is_refused_and_run_anyway_if_asked(place: Place) -> None:
    one = place.judged(published(cpu="Better CPU 9000"))
    done = place.reproduce(one)
    assert (done.returncode, done.stdout) == (REFUSED, "")
    assert "it was judged on Better CPU 9000, and this machine is" in done.stderr
    assert "--anyway" in done.stderr
    anyway = place.reproduce(one, "--anyway")
    assert anyway.returncode == PARTLY, anyway.stderr
    assert "The verdict is reproduced. The times cannot be compared: it was judged on Better CPU" in anyway.stderr


def test_an_evaluation_that_is_not_there_or_private_is_refused_alike(place: Place) -> None:
    one = place.judged(published())
    missing = place.reproduce("999999")
    assert missing.returncode == REFUSED
    assert f"{place.url} has no evaluation 999999 that you may see." in missing.stderr
    Release.objects.filter(pk=place.release.pk).update(is_public=False)
    private = place.reproduce(one)
    assert private.stderr.replace(f"evaluation {one.pk} ", "evaluation 999999 ") == missing.stderr
    assert "podium login" in private.stderr


def test_a_solution_that_is_not_published_is_refused_and_its_team_may_fetch_it(place: Place) -> None:
    one = place.judged(published(), publishes=False)
    done = place.reproduce(one)
    assert done.returncode == REFUSED
    assert f"The solution of evaluation {one.pk} cannot be had." in done.stderr
    assert "does not publish its solutions" in done.stderr
    own = place.reproduce(one, PODIUM_TOKEN=factories.token(place.cast.owner))
    assert own.returncode == REPRODUCED, own.stderr


def test_without_a_build_and_visible_tests_nothing_can_be_run(live_server: Any, cast: Any) -> None:
    with temporary_folder() as name:
        place = made_place(live_server.url, cast, Path(name), without_a_build)
        done = place.reproduce(place.judged(published()), whole=False)
    assert done.returncode == REFUSED
    assert "nothing is built, and its tests are held out (test/t.sh)" in done.stderr
    assert "name it with --problems" in done.stderr


def test_another_record_of_the_problem_is_refused(place: Place) -> None:
    other = packs.problem_pack([factories.example_problem(0, timeout_seconds=9.0)], "test-1")
    write_problem_pack(place.problems, other.metadata_bytes, other.jsonl_bytes)
    done = place.reproduce(place.judged(published()))
    assert done.returncode == REFUSED
    assert "has another Shell/0 than the one that was judged: its record's md5 is" in done.stderr


def without_a_build(n: int) -> dict[str, Any]:
    return factories.example_problem(n, build_command="echo 'nothing to build'")


def with_visible_tests(n: int) -> dict[str, Any]:
    fields = factories.example_problem(n)
    fields["metadata"]["podium"]["visible_test_command"] = "sh test/visible.sh && sh solution.sh"
    return fields


@pytest.mark.parametrize(("script", "status"), [("exit 0", PARTLY), ("exit 1", DIFFERS)])
def test_without_held_out_tests_the_visible_part_is_run(live_server: Any, cast: Any, script: str, status: int) -> None:
    with temporary_folder() as name:
        place = made_place(live_server.url, cast, Path(name), with_visible_tests)
        done = place.reproduce(place.judged(published(), script=script), whole=False)
    assert done.returncode == status, done.stderr
    assert "Held out, and so not here: test/t.sh." in done.stderr
    assert "The visible part was built and run with its visible tests: " in done.stderr
    conclusion = {
        PARTLY: "The verdict cannot be reproduced without the held-out files.",
        DIFFERS: "Not reproduced: the visible part fails here, and the sample is published as passed.",
    }
    assert conclusion[status] in done.stderr


def test_a_function_cannot_be_run_without_its_class(live_server: Any, cast: Any) -> None:
    made = function_site.mixed_release()
    track = factories.offer(made)
    type(cast.entrant).objects.filter(pk=cast.entrant.pk).update(publishes_code=True)
    stored = function_site.judged(cast.entrant, made, track, function_site.report())
    one = stored.evaluations.get(problem__kind="function")
    with temporary_folder() as name:
        shell = Shell(Path(name), {"PODIUM_VAR_DIR": f"{name}/var"})
        done = shell.run("reproduce", f"{live_server.url}/evaluations/{one.pk}/")
    assert done.returncode == REFUSED
    assert "Nothing of row-softmax can be run here: the class that makes its inputs" in done.stderr


def scale(_: int) -> dict[str, Any]:
    """A function whose case `few` is too short for a time unless it is fixed."""
    files = [{"path": "solution.cpp", "content": SCALE_CPP}]
    made = problem(
        SCALE.replace("n=5000", "n=2_000_000"),
        task_id="scale",
        baseline_solution={"type": "file", "task_id": "scale", "files": files},
    )
    fields: dict[str, Any] = json.loads(made.to_line())
    return fields


def test_a_function_is_timed_in_the_cases_that_are_fixed_on_its_track(live_server: Any, cast: Any) -> None:
    with temporary_folder() as name:
        place = made_place(live_server.url, cast, Path(name), scale)
        timed = published().measurements
        both = [one.model_copy(update={"case": case}) for one in timed for case in ("few", "many")]
        type(cast.entrant).objects.filter(pk=cast.entrant.pk).update(publishes_code=True)
        lines = [packs.solution("scale", SCALE_CPP, "solution.cpp")]
        file = packs.solution_pack(lines, place.release.datapack_release)
        draft = read_submission(file, "one-solutions.tar.gz", catalogue_of(place.release))
        metadata = SubmissionMetadata(cast.entrant, place.release, [place.track])
        made = submit(cast.owner, metadata, draft).submission
        factories.judge(made, lambda _: published(measurements=both))
        done = place.reproduce(made.evaluations.get())
    assert done.returncode == REPRODUCED, done.stderr
    assert done.stderr.count("inside the published interval.") == 3
    assert {"few", "many"} == {one.split(":")[0] for one in done.stderr.split("Time in case ")[1:]}
    assert "Reproduced: the verdict is the same, and all 2 times lie inside the published interval." in done.stderr


def test_an_address_names_its_site_and_gets_no_other_sites_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_config, "load", lambda: Site("https://mine.example", "pdm_secret"))
    client, pk = client_for("https://other.example/podium/evaluations/12/?x=1#times")
    assert (client.site, pk) == (Site("https://other.example/podium"), 12)
    assert client_for("https://mine.example/evaluations/3")[0].site.token == "pdm_secret"
    assert client_for("7")[0].site.url == "https://mine.example"
    with pytest.raises(CannotReproduce, match="neither an evaluation's number nor the address of its page"):
        client_for("twelve")
