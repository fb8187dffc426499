"""`podium check` says offline, line by line, what the site would say."""

from pathlib import Path

from tests.evaluate.packs_on_disk import GOLDEN_PROBLEMS, GOLDEN_SOLUTIONS, podium, write_problems, write_solutions
from tests.packs import problem, solution


def test_a_sound_pack_is_fine(folder: Path) -> None:
    ran = podium(folder, "check", GOLDEN_SOLUTIONS, "--problems", GOLDEN_PROBLEMS, "--strict")
    assert ran.status == 0
    assert "10 of 10 samples of 5 problems may be graded." in ran.stdout


def test_invalid_samples_are_named_with_their_lines(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1")])
    pack = write_solutions(folder, [solution("a/1", "x"), solution("a/1", "x", "test/t.sh"), solution("z", "x")])
    ran = podium(folder, "check", pack, "--problems", problems)
    assert ran.status == 1
    assert "line 2: a/1 sample 2 is invalid: 'test/t.sh' is a test file of the problem" in ran.stdout
    assert "line 3: task_id `z` is not in release test-1." in ran.stdout
    assert "1 of 2 samples of 1 problem may be graded." in ran.stdout


def test_what_is_no_pack_is_refused(folder: Path) -> None:
    (folder / "x.tar.gz").write_bytes(b"no archive")
    ran = podium(folder, "check", folder / "x.tar.gz", "--problems", GOLDEN_PROBLEMS)
    assert ran.status == 2
    assert "refused" in ran.stdout


def test_without_the_problems_paths_and_records_are_checked_all_the_same(folder: Path) -> None:
    pack = write_solutions(folder, [solution("a/1", "x"), solution("a/1", "x", "../x")])
    ran = podium(folder, "check", pack)
    assert ran.status == 1
    assert "line 2: a/1 sample 2 is invalid" in ran.stdout
    assert "Without --problems" in ran.stdout


def test_a_folder_of_solutions_is_checked_as_it_would_be_sent(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1")])
    (folder / "mine/a-1/0").mkdir(parents=True)
    (folder / "mine/a-1/0/solution.sh").write_text("true\n")
    (folder / "mine/z/0").mkdir(parents=True)
    (folder / "mine/z/0/solution.sh").write_text("true\n")
    ran = podium(folder, "check", folder / "mine", "--problems", problems)
    assert ran.status == 1
    assert "folder 'z' is no problem of release test-1; name folders after its task_ids." in ran.stdout.splitlines()
    assert "1 of 1 sample of 1 problem may be graded." in ran.stdout


def test_a_folder_can_only_be_checked_against_its_problems(folder: Path) -> None:
    (folder / "mine/a-1").mkdir(parents=True)
    ran = podium(folder, "check", folder / "mine")
    assert ran.status == 2
    assert "give the problems with --problems" in ran.stdout


def test_what_lacks_problems_is_said_to_need_a_coverage(folder: Path) -> None:
    problems = write_problems(folder, [problem("a/1"), problem("b/1")])
    pack = write_solutions(folder, [solution("a/1", "x")])
    ran = podium(folder, "check", pack, "--problems", problems)
    assert "A full submission, 1 of 2 problems. 1 absent samples count as failed." in ran.stdout
    (folder / "mine/a-1").mkdir(parents=True)
    (folder / "mine/a-1/solution.sh").write_text("true\n")
    ran = podium(folder, "check", folder / "mine", "--problems", problems)
    assert "samples of 1 of 2 problems: a site needs --coverage full or partial" in ran.stdout
