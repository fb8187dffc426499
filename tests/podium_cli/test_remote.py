"""The `podium` command against a running site, as a person uses it in a shell."""

import json
import os
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from leaderboard.models import Evaluation, Submission
from podium.remote.commands import tables
from problems.models import Release
from runners.wire.protocol import Verdict
from tests import factories, packs
from tests.warm_podium import run_podium

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_best_speedup_is_never_one_that_the_program_printed() -> None:
    own = {"task_id": "a/1", "track": "cpu", "passed": True, "verdict": "passed"}
    rows = [own | {"speedup": 1e6, "self_reported": True}, own | {"speedup": 1.5, "self_reported": False}]
    assert [list(column.cells) for column in tables.results_table(rows).columns][3] == ["1.50×"]
    slow = [own | {"speedup": 0.0031, "self_reported": False}]
    assert [list(column.cells) for column in tables.results_table(slow).columns][3] == ["0.0031×"]
    assert [list(column.cells) for column in tables.results_table(rows[:1]).columns][3] == ["–"]


def test_a_best_speedup_over_fewer_cases_says_so() -> None:
    own = {"task_id": "a/1", "track": "cpu", "passed": True, "verdict": "passed", "self_reported": False}
    rows = [own | {"speedup": 2.0, "n_speedup_cases": 2, "n_timed_cases": 3}]
    assert [list(column.cells) for column in tables.results_table(rows).columns][3] == ["2.00× (2 of 3 cases)"]
    rows.append(own | {"speedup": 3.0, "n_speedup_cases": 3, "n_timed_cases": 3})
    assert [list(column.cells) for column in tables.results_table(rows).columns][3] == ["3.00×"]


@dataclass
class Shell:
    """A shell whose only knowledge of the site is its environment and its home folder."""

    home: Path
    variables: dict[str, str]

    def run(self, *words: str, stdin: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PODIUM_", "XDG_", "DJANGO"))}
        environment = {**kept, "HOME": str(self.home), "COLUMNS": "200", "TERM": "dumb", **self.variables, **changes}
        return run_podium(words, environment, self.home, stdin, timeout_seconds=60)


@dataclass
class Place:
    shell: Shell
    release: Release
    track: Any
    token: str
    url: str


@pytest.fixture
def place(live_server: Any, cast: Any, tmp_path: Path) -> Place:
    made = factories.release(3)
    track = factories.offer(made)
    token = factories.token(cast.owner)
    variables = {"PODIUM_SITE_URL": live_server.url, "PODIUM_TOKEN": token}
    return Place(Shell(tmp_path, variables), made, track, token, live_server.url)


@pytest.fixture
def pack(place: Place) -> Path:
    path = place.shell.home / "mine-solutions.tar.gz"
    rows = [packs.solution(f"Shell/{n}", "exit 0") for n in range(3)]
    path.write_bytes(packs.solution_pack(rows).getvalue())
    return path


def submit(place: Place, path: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return place.shell.run("submit", str(path), "--release", place.release.slug, "--entrant", "alpha", *more)


def test_login_keeps_site_and_token_where_only_the_owner_reads_them(place: Place) -> None:
    stranger = Shell(place.shell.home, {})
    done = stranger.run("login", place.url, stdin=place.token + "\n")
    assert done.returncode == 0, done.stderr
    assert "as owner" in done.stderr
    assert place.token not in done.stdout + done.stderr
    kept = place.shell.home / ".config" / "podium" / "config.toml"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "test-1" in stranger.run("releases").stdout


def test_a_wrong_token_is_not_kept(place: Place) -> None:
    done = Shell(place.shell.home, {}).run("login", place.url, stdin="pdm_wrong\n")
    assert done.returncode == 1
    assert "not known here" in done.stderr
    assert not (place.shell.home / ".config").exists()


def test_without_a_site_the_words_say_what_to_do(tmp_path: Path) -> None:
    done = Shell(tmp_path, {}).run("releases")
    assert (done.returncode, done.stdout) == (1, "")
    assert "podium login" in done.stderr


def test_a_stored_token_is_not_sent_to_another_site(place: Place, pack: Path) -> None:
    stranger = Shell(place.shell.home, {})
    stranger.run("login", place.url, stdin=place.token + "\n")
    order = ("submit", str(pack), "--release", "test-1", "--entrant", "alpha")
    elsewhere = stranger.run(*order, PODIUM_SITE_URL=place.url.replace("localhost", "127.0.0.1"))
    assert elsewhere.returncode == 1
    assert "Sign in" in elsewhere.stderr
    assert stranger.run(*order).returncode == 0


def test_a_pack_is_checked_sent_and_its_number_printed(place: Place, pack: Path) -> None:
    done = submit(place, pack, "--note", "first", "--no-counted")
    assert done.returncode == 0, done.stderr
    made = Submission.objects.get()
    assert done.stdout == f"{made.pk}\n"
    assert "3 samples of 3 problems, a full submission." in done.stderr
    assert (made.note, made.asks_to_count, made.submitted_through) == ("first", False, "cli")
    again = submit(place, pack, "--no-counted")
    assert again.stdout == done.stdout
    assert "here already" in again.stderr


def test_an_earlier_submission_is_chosen_to_count(place: Place, pack: Path, cast: Any) -> None:
    assert submit(place, pack).returncode == 0
    first = Submission.objects.get()
    factories.judge(first)
    factories.judged_submission(cast.entrant, place.release, place.track, script="exit 0 # later")
    assert f"by `podium choose {first.pk}`, to let it count on cpu-test." in submit(place, pack).stderr
    done = place.shell.run("choose", str(first.pk), "--track", "cpu-test")
    assert (done.returncode, done.stderr) == (0, f"Submission #{first.pk} counts on cpu-test.\n")
    refused = place.shell.run("choose", str(first.pk), "--track", "nowhere")
    assert refused.returncode == 1
    assert "There is no track 'nowhere'" in refused.stderr


def test_what_a_pack_declares_is_kept_and_what_is_left_out_of_it_is_said(place: Place) -> None:
    path = place.shell.home / "mine-solutions.tar.gz"
    rows = [packs.solution(f"Shell/{n}", "exit 0") for n in range(3)]
    declared = {"model": "lab/model", "usage": {"cost": 0.6, "prompt_tokens": "many"}}
    path.write_bytes(packs.solution_pack(rows, generation=declared).getvalue())
    done = submit(place, path)
    assert done.returncode == 0, done.stderr
    assert "`generation.usage.prompt_tokens` is left out: input should be a valid integer." in done.stderr
    made = Submission.objects.get()
    assert made.generation == {"model": "lab/model", "usage": {"cost": 0.6}}
    assert (made.tokens_per_sample, made.usd_per_sample) == (None, pytest.approx(0.2))


def test_declared_figures_of_any_size_are_written_short() -> None:
    columns = [
        {"key": "tokens_per_sample", "title": "Tokens", "unit": ""},
        {"key": "usd_per_sample", "title": "Cost", "unit": "US$"},
    ]
    row = {
        "rank": 1,
        "rank_low": 1,
        "rank_high": 1,
        "model": "A",
        "kind": "model",
        "incomplete": "",
        "organisation": "",
    }
    figures = [(12345.6, 0.0123456), (0.0, 0.0), (None, None)]
    rows = [row | {"tokens_per_sample": tokens, "usd_per_sample": usd} for tokens, usd in figures]
    table = tables.board_table({"release": "r", "track": "t", "columns": columns, "standings": rows})
    assert [column.header for column in table.columns][-2:] == ["Tokens", "Cost US$"]
    assert [list(column.cells) for column in table.columns][-2:] == [["12,346", "0", "–"], ["0.0123", "0", "–"]]


def test_a_pack_the_site_would_refuse_is_refused_before_it_is_sent(place: Place) -> None:
    path = place.shell.home / "mine.jsonl"
    path.write_bytes(packs.line(packs.solution("Shell/0", "x")) + packs.line(packs.solution("CUDA/999", "x")))
    done = submit(place, path)
    assert done.returncode == 1
    assert "Line 2: task_id `CUDA/999` is not in release test-1." in done.stderr
    assert not Submission.objects.exists()


def test_a_folder_of_solutions_is_zipped_and_sent(place: Place) -> None:
    for index in range(2):
        folder = place.shell.home / "mine" / "Shell_0" / str(index)
        folder.mkdir(parents=True)
        (folder / "solution.sh").write_text(f"exit {index}")
    unsaid = submit(place, place.shell.home / "mine")
    assert unsaid.returncode == 1
    assert "samples of 1 of 3 problems" in unsaid.stderr
    partial = ("--coverage", "partial", "--licence", "MIT")
    done = submit(place, place.shell.home / "mine", *partial)
    assert done.returncode == 0, done.stderr
    assert "a partial submission: it is not ranked on the board" in done.stderr
    made = Submission.objects.get()
    assert (made.samples.count(), made.is_full, made.licence) == (2, False, "MIT")
    assert "here already" in submit(place, place.shell.home / "mine", *partial).stderr


def test_a_dry_run_prints_every_fault_and_sends_nothing(place: Place, pack: Path) -> None:
    done = submit(place, pack, "--dry-run")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    for words in ("3 samples of all 3 problems", "ranked on the board", "3 evaluations", "The site would take it."):
        assert words in done.stderr
    path = place.shell.home / "mine.jsonl"
    path.write_bytes(b"".join(packs.line(packs.solution(one, "x")) for one in ("CUDA/8", "Shell/0", "CUDA/9")))
    odd = submit(place, path, "--dry-run")
    assert odd.returncode == 1
    for words in ("Line 1: task_id `CUDA/8`", "Line 3: task_id `CUDA/9`", "Refused (incomplete)", "Absent: Shell/1"):
        assert words in odd.stderr
    assert not Submission.objects.exists()


def test_a_folder_with_a_link_is_not_sent(place: Place) -> None:
    folder = place.shell.home / "mine" / "Shell_0"
    folder.mkdir(parents=True)
    (folder / "solution.sh").symlink_to("/etc/passwd")
    done = submit(place, place.shell.home / "mine")
    assert done.returncode == 1
    assert "symbolic link" in done.stderr


def test_one_source_file_solves_one_task(place: Place) -> None:
    path = place.shell.home / "solution.sh"
    path.write_text("exit 0")
    done = submit(place, path, "--task", "Shell/1")
    assert done.returncode == 0, done.stderr
    assert Submission.objects.get().samples.get().problem.task_id == "Shell/1"
    assert "name its --task" in submit(place, path).stderr


def test_the_sites_refusal_is_shown_in_its_words(place: Place, pack: Path) -> None:
    done = place.shell.run("submit", str(pack), "--release", "test-1", "--entrant", "strangers-model")
    assert done.returncode == 1
    assert "You may not submit for Stranger's model." in done.stderr
    assert "Traceback" not in done.stderr


def judged(cast: Any, place: Place) -> Submission:
    def verdict_of(one: Evaluation) -> Any:
        return factories.report(Verdict.PASSED if one.problem.position else Verdict.TEST_FAILED)

    return factories.judged_submission(cast.entrant, place.release, place.track, verdict_of, n_samples=1)


def test_watch_ends_with_zero_when_the_submission_is_done(place: Place, cast: Any) -> None:
    done = place.shell.run("watch", str(judged(cast, place).pk))
    assert done.returncode == 0, done.stderr
    assert "is done. 2 passed · 1 test failed" in done.stderr


def test_watch_of_a_cancelled_submission_ends_otherwise(place: Place, cast: Any) -> None:
    from leaderboard.actions.submissions.cancel import cancel

    made = factories.submission(cast.entrant, place.release, place.track)
    cancel(cast.owner, made)
    assert place.shell.run("watch", str(made.pk)).returncode == 1


def test_results_come_as_a_table_as_json_lines_or_as_a_file(place: Place, cast: Any) -> None:
    made = judged(cast, place)
    table = place.shell.run("results", str(made.pk)).stdout
    assert "Shell/2" in table
    assert "2.00×" in table
    rows = [json.loads(line) for line in place.shell.run("results", str(made.pk), "--json").stdout.splitlines()]
    assert [row["verdict"] for row in rows] == ["test_failed", "passed", "passed"]
    place.shell.run("results", str(made.pk), "--out", "rows.jsonl")
    kept = (place.shell.home / "rows.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in kept] == rows


@pytest.mark.parametrize("words", [["board", "none"], ["results", "7"], ["watch", "7"]], ids=lambda words: words[0])
def test_what_is_not_there_ends_in_words(place: Place, words: list[str]) -> None:
    done = place.shell.run(*words)
    assert (done.returncode, done.stdout) == (1, "")
    assert "that you may see" in done.stderr


def test_the_board_is_a_table_or_json(place: Place, cast: Any) -> None:
    judged(cast, place)
    assert "Alpha" in place.shell.run("board", place.release.slug).stdout
    found = json.loads(place.shell.run("board", place.release.slug, "--json").stdout)
    assert found["standings"][0]["entrant"] == "alpha"
    some = place.shell.run("board", place.release.slug, "--group", "strings")
    assert "Ranked over 2 of 3 problems." in some.stderr
    wrong = place.shell.run("board", place.release.slug, "--group", "strange")
    assert wrong.returncode == 1
    assert "strange" in wrong.stderr


def test_entrants_are_compared_in_a_table_or_json(place: Place, cast: Any) -> None:
    judged(cast, place)
    factories.judged_submission(
        cast.strangers_entrant, place.release, place.track, lambda _: factories.report(Verdict.TEST_FAILED)
    )
    factories.rank(place.release, place.track)
    slugs = ("alpha", cast.strangers_entrant.slug)
    table = place.shell.run("compare", place.release.slug, *slugs)
    assert table.returncode == 0, table.stderr
    assert "against Alpha" in table.stdout
    assert "-100.0" in table.stdout
    found = json.loads(place.shell.run("compare", place.release.slug, *slugs, "--json").stdout)
    assert (found["differences"][0]["worse"], found["differences"][0]["problems"]) == (2, 3)  # both fail one
    alone = place.shell.run("compare", place.release.slug, "alpha")
    assert alone.returncode == 1
    assert "Name 2 to 6 entrants" in alone.stderr


def test_a_piped_table_is_never_cut_off(place: Place, pack: Path) -> None:
    submit(place, pack)
    listed = place.shell.run("releases", COLUMNS="20")
    assert place.track.slug in listed.stdout
    board = place.shell.run("board", "test-1", COLUMNS="20")
    assert "Speedup of passes" in board.stdout
    assert "…" not in board.stdout


def test_a_narrow_terminal_shows_the_first_columns_of_a_board_and_names_the_others() -> None:
    columns = [{"key": name, "title": name, "unit": ""} for name in ("first", "second", "third")]
    board = {"release": "r", "track": "t", "columns": columns, "standings": []}
    fitting, left_out = tables.board_that_fits(board, 50)
    assert [column["title"] for column in fitting["columns"]] == ["first", "second"]
    assert left_out == ["third"]


@pytest.mark.rest
def test_a_site_that_is_away_ends_in_words(tmp_path: Path) -> None:
    done = Shell(tmp_path, {"PODIUM_SITE_URL": "http://127.0.0.1:9"}).run("releases")
    assert done.returncode == 1
    assert "cannot be reached" in done.stderr


def test_waiting_ends_when_nothing_is_left_to_do(place: Place) -> None:
    path = place.shell.home / "mine.jsonl"
    path.write_bytes(b"".join(packs.line(packs.solution(f"Shell/{n}", "x", "../x")) for n in range(3)))
    done = submit(place, path, "--wait")
    assert done.returncode == 0, done.stderr
    assert "Shell/0 sample 1 is invalid" in done.stderr
    assert "is done. 3 invalid" in done.stderr


def test_the_remote_commands_need_no_django_and_no_node_packages() -> None:
    heavy = "{'django', 'celery', 'docker', 'rest_framework'}"
    code = f"import sys, podium.remote.commands; print({heavy} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "set()\n"
