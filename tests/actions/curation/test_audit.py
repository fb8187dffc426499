"""Answers that do no work are judged as samples of a draft; the problem they pass cannot rank without a reason."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.actions.curation import audit as auditing
from leaderboard.actions.curation import curate
from leaderboard.actions.curation.clarify import make_erratum
from leaderboard.actions.curation.tracks import offer
from leaderboard.actions.curation.verify import verify
from leaderboard.actions.problems.delete_draft import delete_draft
from leaderboard.curation.audits import audits_of
from leaderboard.curation.verification import missing_lines, verification_report
from leaderboard.errors import NotAllowed, Refused
from leaderboard.models import AuditMutant, Clarification, Evaluation, ProblemAudit, Standing, Submission
from problems.actions.releases import import_release
from problems.models import Problem, Release
from runners.wire.protocol import LogText, Provenance, Report, StepReport, Verdict, Witness
from tests.fleet.site import Site, WireNode
from tests.function_site import function
from tests.packs import problem, problem_pack

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

REFERENCE = "def scale(x):\n    return x * 2\n"
PRINTED = "2 cases were right\n"


@pytest.fixture
def site(settings: Any) -> Site:
    settings.AUDIT_MUTANTS = 6
    return Site.make()


def draft(site: Site, **changes: Any) -> Release:
    """A draft of one problem, whose reference is in Python."""
    reference = {"schema_version": 1, "type": "file", "task_id": "b/1",
                 "files": [{"path": "solution.py", "content": REFERENCE}]}  # fmt: skip
    fields = {"type": "python", "podium": {"build_only": []}, "baseline_solution": reference} | changes
    release = import_release(problem_pack([problem("b/1", **fields)], release="test-2")).release
    offer(site.organiser, release, site.track)
    return release


def work_off(passing: str = "never") -> int:
    """Report each piece of work: the reference passes, and a mutant whose text has `passing`. Returns their number."""
    node, n = WireNode(), 0
    while (answer := node.claim()).status_code == 200:
        work, n = answer.json(), n + 1
        text = b"".join(node.blob(work, work["solution"]["sha256"]).streaming_content).decode()
        is_reference = "return x * 2" in text and "os._exit" not in text and "_podium_kept" not in text
        verdict = Verdict.PASSED if is_reference or passing in text else Verdict.TEST_FAILED
        step = StepReport(name="test", exit_code=0 if verdict is Verdict.PASSED else 1, log=LogText(text=PRINTED))
        node.report(work, Report(verdict=verdict, witness=Witness.SEEN, provenance=Provenance(), steps=[step]))
    return n


def verified(site: Site, passing: str = "never") -> Release:
    """A draft that is verified and audited."""
    release = draft(site)
    verify(site.organiser, release, site.track)
    work_off()
    assert auditing.audit_due() == 1
    work_off(passing)
    return release


def kinds() -> set[str]:
    return set(AuditMutant.objects.values_list("kind", flat=True))


def test_a_draft_is_audited_once_its_reference_has_passed(site: Site) -> None:
    release = draft(site)
    verify(site.organiser, release, site.track)
    assert auditing.audit_due() == 0, "its reference has not been judged"
    assert missing_lines(release) == ["problem b/1: its reference has not been judged yet on cpu-test"]
    work_off()
    begins = "the site worker begins it, unless its PODIUM_AUDIT_MUTANTS is 0"
    assert missing_lines(release) == [f"problem b/1: its audit has not begun; {begins}"]
    assert (auditing.audit_due(), auditing.audit_due()) == (1, 0)
    assert kinds() == {"body emptied", "first result kept", "prints the reference's output"}
    assert missing_lines(release) == ["problem b/1: its audit is not finished: 3 of 3 answers are to be judged"]
    assert work_off() == 3
    assert missing_lines(release) == []
    (found,) = audits_of(release)
    assert (found.state, found.n_built, found.n_killed, found.kill_rate) == ("passed", 3, 3, 1.0)
    assert not Standing.objects.exists()
    report = verification_report(release, site.track)
    assert report.passed
    assert "Answers that do no work: 3 rejected, 0 passed, 0 did not run, 0 to come" in report.lines


def test_a_mutant_prints_what_the_reference_printed(site: Site) -> None:
    release = draft(site)
    verify(site.organiser, release, site.track)
    work_off()
    auditing.audit_due()
    texts = []
    node = WireNode()
    while (answer := node.claim()).status_code == 200:
        work = answer.json()
        texts.append(b"".join(node.blob(work, work["solution"]["sha256"]).streaming_content).decode())
        node.report(work, Report(verdict=Verdict.TEST_FAILED, witness=Witness.SEEN, provenance=Provenance()))
    assert any("os._exit(0)" in text and "2 cases were right" in text for text in texts)


def test_a_problem_that_an_idle_answer_passes_is_not_published(site: Site) -> None:
    release = verified(site, passing="os._exit")
    (line,) = missing_lines(release)
    assert line.startswith("problem b/1: answers that do no work pass it (prints the reference's output)")
    assert not verification_report(release, site.track).passed
    with pytest.raises(Refused, match="answers that do no work pass it"):
        curate.publish(site.organiser, release)


def test_an_organisers_reason_lets_it_rank(site: Site) -> None:
    release = verified(site, passing="os._exit")
    (task,) = release.problems.all()
    assert auditing.needs_reason(task)
    auditing.give_reason(site.organiser, task, "The test is a smoke test.")
    assert not auditing.needs_reason(task)
    curate.publish(site.organiser, release)
    release.refresh_from_db()
    assert (release.is_draft, release.unverified_reason) == (False, "")
    (found,) = audits_of(release)
    assert (found.state, found.reason and found.reason.public_reason) == ("survivors", "The test is a smoke test.")


def test_a_reason_is_given_on_the_command_line_too(site: Site) -> None:
    release = verified(site, passing="os._exit")
    asked = ["verify_release", release.slug, "--track", site.track.slug, "--why-it-ranks"]
    with pytest.raises(CommandError, match="has no problem 'c/1'"):
        call_command(*asked, "c/1", "A smoke test.")
    with pytest.raises(CommandError, match="Give the reason"):
        call_command(*asked, "b/1", " ")
    out = StringIO()
    call_command(*asked, "b/1", "A smoke test.", stdout=out)
    assert out.getvalue().endswith("Every problem is verified.\n")
    call_command(*asked, "b/1", "Again.", stdout=out)
    assert "problem b/1: needs no reason now" in out.getvalue()
    curate.publish(site.organiser, release)
    (found,) = audits_of(release)
    assert found.reason is not None
    assert (found.reason.public_reason, found.reason.given_by) == ("A smoke test.", None)


@pytest.mark.parametrize(("words", "code"), [("", "reason_needed"), ("x" * 4001, "reason_needed")])
def test_a_reason_has_words(site: Site, words: str, code: str) -> None:
    (task,) = verified(site, passing="os._exit").problems.all()
    with pytest.raises(Refused) as refused:
        auditing.give_reason(site.organiser, task, words)
    assert refused.value.code == code


def test_a_reason_needs_an_answer_that_passes_and_an_organiser(site: Site) -> None:
    (task,) = verified(site).problems.all()
    with pytest.raises(Refused, match="it needs no reason"):
        auditing.give_reason(site.organiser, task, "No reason.")
    with pytest.raises(NotAllowed):
        auditing.give_reason(site.owner, task, "No reason.")


def test_a_changed_problem_is_audited_anew_and_its_reason_no_longer_holds(site: Site) -> None:
    release = verified(site, passing="os._exit")
    (task,) = release.problems.all()
    auditing.give_reason(site.organiser, task, "A smoke test.")
    Problem.objects.filter(pk=task.pk).update(graded_since=timezone.now() + timedelta(seconds=0.001))
    (found,) = audits_of(release)
    assert (found.state, found.reason, found.why_not) == ("not_audited", None, "no audit was made")
    assert auditing.audit_due() == 0, "its reference is to be judged again first"
    verify(site.organiser, release, site.track)
    work_off()
    assert auditing.audit_due() == 1


def test_a_mutant_that_does_not_build_is_not_counted(site: Site) -> None:
    release = draft(site)
    verify(site.organiser, release, site.track)
    work_off()
    auditing.audit_due()
    node = WireNode()
    while (answer := node.claim()).status_code == 200:
        report = Report(verdict=Verdict.BUILD_FAILED, witness=Witness.SEEN, provenance=Provenance())
        node.report(answer.json(), report)
    (found,) = audits_of(release)
    assert (found.state, found.n_built, found.kill_rate) == ("not_audited", 0, None)
    assert missing_lines(release) == []
    lines = verification_report(release, site.track).lines
    assert "  Note: b/1: not audited, because no mutant was built and ran." in lines


def test_a_problem_without_mutants_is_not_audited(site: Site) -> None:
    release = draft(site, type="cpp", baseline_solution=problem("b/1")["baseline_solution"])
    verify(site.organiser, release, site.track)
    work_off("exit 0")
    assert auditing.audit_due() == 1
    (found,) = audits_of(release)
    assert (found.state, found.why_not) == ("not_audited", "no mutant could be made of its reference")
    assert missing_lines(release) == []


def test_drafts_are_left_alone_where_audits_are_off(site: Site, settings: Any) -> None:
    settings.AUDIT_MUTANTS = 0
    release = draft(site)
    verify(site.organiser, release, site.track)
    work_off()
    assert auditing.audit_due() == 0
    assert missing_lines(release) == []


def test_an_organiser_has_a_published_release_audited_and_an_erratum_is_proposed(site: Site, settings: Any) -> None:
    settings.AUDIT_MUTANTS = 0
    release = draft(site)
    verify(site.organiser, release, site.track)
    work_off()
    curate.publish(site.organiser, release)
    auditing.audit(site.organiser, release, site.track)
    assert auditing.settle_audits() == 0, "it has not ended"
    work_off("os._exit")
    assert (auditing.settle_audits(), auditing.settle_audits()) == (1, 0)
    asked = Clarification.objects.get()
    assert (asked.kind, asked.asked_by) == ("fault", site.organiser)
    assert "proposes an erratum" in asked.text
    assert audits_of(release)[0].proposal == asked.pk
    make_erratum(site.organiser, asked, "An answer that prints passed it.")
    assert ProblemAudit.objects.get().proposal == asked


def test_an_audit_without_survivors_proposes_nothing(site: Site, settings: Any) -> None:
    settings.AUDIT_MUTANTS = 0
    release = draft(site)
    verify(site.organiser, release, site.track)
    work_off()
    curate.publish(site.organiser, release)
    auditing.audit(site.organiser, release, site.track)
    work_off()
    assert auditing.settle_audits() == 1
    assert not Clarification.objects.exists()
    with pytest.raises(Refused, match="nothing to audit"):
        auditing.audit(site.organiser, release, site.track)


def test_only_organisers_have_a_release_audited(site: Site) -> None:
    with pytest.raises(NotAllowed):
        auditing.audit(site.owner, draft(site), site.track)


def test_a_draft_is_deleted_with_its_audit(site: Site) -> None:
    release = verified(site, passing="os._exit")
    auditing.give_reason(site.organiser, release.problems.get(), "A smoke test.")
    delete_draft(site.organiser, release)
    assert not ProblemAudit.objects.exists()
    assert not Submission.objects.exclude(release=site.release).exists()


def test_the_answers_of_an_audit_are_no_ones_but_the_organisers(site: Site) -> None:
    release = verified(site)
    curate.publish(site.organiser, release)
    Release.objects.filter(pk=release.pk).update(is_public=True)
    from django.test import Client

    pk = Evaluation.objects.filter(sample__audit_mutant__isnull=False).values_list("pk", flat=True)[0]
    stranger = Client()
    assert stranger.get(f"/evaluations/{pk}/").status_code == 404


def test_an_audit_is_read_by_a_fixed_number_of_queries(site: Site) -> None:
    release = verified(site)
    with CaptureQueriesContext(connection) as of_one:
        audits_of(release)
    assert len(of_one) == 5


def test_the_mutants_of_a_function_are_answers_that_do_no_work(site: Site, settings: Any) -> None:
    """A report of wrong answers rejects them; an exception is no answer, and does not count."""
    settings.AUDIT_MUTANTS = 12
    release = import_release(problem_pack([function()], release="functions-1")).release
    offer(site.organiser, release, site.track)
    verify(site.organiser, release, site.track)
    node = WireNode()
    while (answer := node.claim()).status_code == 200:
        text = b"".join(node.blob(work := answer.json(), work["solution"]["sha256"]).streaming_content).decode()
        verdict = Verdict.PASSED if "reference words" in text else Verdict.WRONG_ANSWER
        node.report(work, Report(verdict=verdict, witness=Witness.SEEN, provenance=Provenance()))
    assert auditing.audit_due() == 1
    made = AuditMutant.objects.count()
    assert {"does nothing", "zeros", "constant", "skipped tail", "first answer replayed"} <= kinds()
    verdicts = iter([Verdict.TEST_FAILED])
    while (answer := node.claim()).status_code == 200:
        verdict = next(verdicts, Verdict.WRONG_ANSWER)
        node.report(answer.json(), Report(verdict=verdict, witness=Witness.SEEN, provenance=Provenance()))
    (found,) = audits_of(release)
    assert (found.state, found.n_built, found.n_killed) == ("passed", made - 1, made - 1)
