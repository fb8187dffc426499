"""Problems written as folders become records, and records become folders again."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.formats.compute_eval.directory import read_problem_directory, write_problem_directory
from problems.formats.compute_eval.packs import PackRefused, problem_metadata_for, problem_pack_from, read_problem_pack
from problems.spec.pack import ProblemPackMetadata
from problems.spec.profile import Profile
from tests.formats.sources import PROBLEMS, problem

SPEC = """
task_id: "CUDA/0"
date: 2024-12-19
problem_type: cuda_cpp
group: cuda-kernels
prompt: "Implement a kernel"
build_command: "nvcc -I include -o test.out solution.cu test/*.cu"
test_command: "./test.out"
timeout_seconds: 30.0
min_cuda_toolkit: "12.0"
metadata:
  difficulty: medium
  tags: [kernels, memory]
  releases: [2025-1, 2025-2]
source_references:
  all: [cudaMalloc]
"""


def lay_out(folder: Path, spec: str = SPEC) -> Path:
    files = {
        "problem-spec.yaml": spec,
        "context/include/kernel.h": "void f();\n",
        "solution/solution.cu": "void f() {}\n",
        "test/test/test_main.cu": "int main() {}\n",
    }
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


def test_one_folder_is_one_problem(tmp_path: Path) -> None:
    pack = read_problem_directory(lay_out(tmp_path / "CUDA-0"))
    subject = pack.records[0].problem
    assert (pack.metadata.release, pack.profile) == ("internal", Profile.COMPUTE_EVAL)
    assert (subject.type, subject.date) == ("cuda_cpp", "2024-12-19")
    assert [file.path for file in subject.context_files] == ["include/kernel.h"]
    assert [file.path for file in subject.test_files] == ["test/test_main.cu"]
    assert subject.baseline_solution is not None
    assert subject.baseline_solution.task_id == "CUDA/0"
    assert subject.to_line() == pack.records[0].line


def test_a_tree_takes_its_metadata_from_release_yaml(tmp_path: Path) -> None:
    for name in ("b", "a"):
        lay_out(tmp_path / name, SPEC.replace("CUDA/0", name).replace("cuda_cpp", "cpp"))
    (tmp_path / "release.yaml").write_text("release: spring\nprofile: podium/1\ntitle: Spring\nks: [1]\n")
    pack = read_problem_directory(tmp_path)
    assert [record.problem.task_id for record in pack.records] == ["a", "b"]
    assert (pack.metadata.title, pack.metadata.total_count) == ("Spring", 2)


def test_our_types_need_no_release_yaml(tmp_path: Path) -> None:
    spec = SPEC.replace("cuda_cpp", "cpp").replace("cuda-kernels", "sorting")
    assert read_problem_directory(lay_out(tmp_path, spec)).profile is Profile.PODIUM


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (SPEC.replace('min_cuda_toolkit: "12.0"', "min_cuda_toolkit: 12.0"), "min_cuda_toolkit"),
        (SPEC.replace("group: cuda-kernels", ""), "`group` is missing"),
        ("- a list", "mapping"),
        ("a: [", "problem-spec.yaml"),
        ("a: !!python/object/apply:os.system [true]", "problem-spec.yaml"),
    ],
)
def test_bad_specs_are_refused_in_words(tmp_path: Path, spec: str, words: str) -> None:
    with pytest.raises(PackRefused, match=words):
        read_problem_directory(lay_out(tmp_path, spec))


def test_a_misspelt_field_is_refused_where_it_would_be_lost(tmp_path: Path) -> None:
    (lay_out(tmp_path, SPEC + "timeout_second: 3\n") / "release.yaml").write_text("release: s\nprofile: podium/1\n")
    with pytest.raises(PackRefused, match="timeout_second"):
        read_problem_directory(tmp_path)


def test_links_and_files_that_are_no_text_are_refused(tmp_path: Path) -> None:
    folder = lay_out(tmp_path)
    (folder / "context" / "link").symlink_to("/etc/passwd")
    with pytest.raises(PackRefused, match="link"):
        read_problem_directory(folder)
    (folder / "context" / "link").unlink()
    (folder / "test" / "data.bin").write_bytes(b"\xff")
    with pytest.raises(PackRefused, match="UTF-8"):
        read_problem_directory(folder)


def lay_out_sharing(release: Path, listed: str, place: str = "problems/one") -> Path:
    folder = lay_out(release / place, SPEC + f"common: {listed}\n")
    (release / "common" / "test").mkdir(parents=True)
    (release / "common" / "test" / "check.h").write_text("// shared\n")
    return folder


def test_a_problem_takes_test_files_from_the_common_folder(tmp_path: Path) -> None:
    folder = lay_out_sharing(tmp_path / "apart", "[test/check.h]")
    problem = read_problem_directory(tmp_path / "apart").records[0]
    assert [file.path for file in problem.problem.test_files] == ["test/check.h", "test/test_main.cu"]
    assert read_problem_directory(folder).records[0].line == problem.line

    copied = lay_out(tmp_path / "copied")
    (copied / "test" / "test" / "check.h").write_text("// shared\n")
    assert read_problem_directory(copied).records[0].line == problem.line


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("[test/other.h]", "common/test/other.h is missing"),
        ("[../release.yaml]", "leaves its folder"),
        ("[/etc/passwd]", "absolute"),
        ("[test/test_main.cu]", "in the problem's own folder"),
        ("[test/check.h, test/check.h]", "listed twice; keep one"),
        ("test/check.h", "must be a list of paths"),
        ("[1]", "must be a list of paths"),
        ("[test/link.h]", "is a link"),
    ],
)
def test_a_common_file_that_cannot_be_taken_is_refused(tmp_path: Path, listed: str, words: str) -> None:
    lay_out_sharing(tmp_path, listed)
    (tmp_path / "common" / "test" / "link.h").symlink_to("/etc/passwd")
    with pytest.raises(PackRefused, match=words):
        read_problem_directory(tmp_path)


def test_a_folder_outside_a_release_has_no_common_folder(tmp_path: Path) -> None:
    lay_out_sharing(tmp_path, "[test/check.h]", "mine/one")
    with pytest.raises(PackRefused, match="common beside problems"):
        read_problem_directory(tmp_path)


def test_what_python_compiled_is_no_file_of_a_problem(tmp_path: Path) -> None:
    cache = lay_out(tmp_path) / "test" / "__pycache__"
    cache.mkdir()
    (cache / "helper.cpython-311.pyc").write_bytes(b"\xa7\r\r\n")
    paths = [one.path for one in read_problem_directory(tmp_path).records[0].problem.test_files]
    assert paths == ["test/test_main.cu"]


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PackRefused, match=r"no problem-spec\.yaml"):
        read_problem_directory(tmp_path)


def test_the_golden_pack_survives_as_a_directory(tmp_path: Path) -> None:
    pack = read_problem_pack(PROBLEMS)
    write_problem_directory(pack, tmp_path / "out")
    again = read_problem_directory(tmp_path / "out")
    assert (again.jsonl_bytes, again.metadata_bytes) == (pack.jsonl_bytes, pack.metadata_bytes)


def test_paths_that_leave_the_folder_are_not_written(tmp_path: Path) -> None:
    line = problem(context_files=[{"path": "../../x", "content": ""}]).to_line()
    metadata = problem_metadata_for(ProblemPackMetadata(release="internal", total_count=1), [("T/0", line)])
    with pytest.raises(PackRefused, match="leaves its folder"):
        write_problem_directory(problem_pack_from(metadata.to_bytes(), line), tmp_path / "out")


@given(prompt=st.text(st.characters(exclude_categories=["Cs"]), max_size=60), tag=st.text("yesno 0:#-", max_size=8))
@settings(max_examples=60)
def test_any_text_survives_yaml(tmp_path_factory: pytest.TempPathFactory, prompt: str, tag: str) -> None:
    line = problem(prompt=prompt, metadata={"tags": [tag]}).to_line()
    metadata = problem_metadata_for(ProblemPackMetadata(release="internal", total_count=1), [("T/0", line)])
    folder = tmp_path_factory.mktemp("tree") / "out"
    write_problem_directory(problem_pack_from(metadata.to_bytes(), line), folder)
    assert read_problem_directory(folder).jsonl_bytes == line
