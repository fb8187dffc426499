"""The form in which problems are written by hand: a folder with problem-spec.yaml, context/, solution/ and test/.

Paths in a record are relative to the folder's `context`, `solution` and `test`: `test/test/main.cu` is `test/main.cu`.
Test files that problems share lie once, in the folder `common` beside `problems`; a spec lists those it takes.
A tree of such folders becomes a pack; `release.yaml` at its top holds the pack's metadata, `problems` in it the order.
Questions lie in one file at its top, `questions.jsonl`, and come last.
"""

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from problems.formats.bounded import DEFAULT_LIMITS, MEBIBYTE
from problems.formats.compute_eval.packs import ProblemPack, problem_metadata_for, problem_pack_from
from problems.formats.errors import PackRefused, raise_all
from problems.formats.questions.lines import QUESTIONS_NAME, read_questions
from problems.formats.yaml_text import read_yaml
from problems.spec.command.problem import CommandProblem, as_command, problem_from
from problems.spec.errors import RecordError
from problems.spec.pack import ProblemPackMetadata, parse_problem_metadata
from problems.spec.paths import why_bad_path
from problems.spec.profile import STRICT_GROUPS, Profile
from problems.spec.record import ProblemRecord
from problems.spec.records import kind_of
from problems.spec.solution import FileSolution, SourceFile

SPEC_NAME = "problem-spec.yaml"
RELEASE_NAME = "release.yaml"
_FILE_FOLDERS = {"context_files": "context", "test_files": "test"}
COMMON_NAME = "common"
_SPEC_KEYS = (frozenset(CommandProblem.model_fields) - set(_FILE_FOLDERS)) | {"problem_type", "kind", COMMON_NAME}


def read_problem_directory(
    root: Path, release: str = "internal", others: Mapping[Path, ProblemRecord] | None = None
) -> ProblemPack:
    """Read one problem's folder or a tree of them; `release` names the pack where no release.yaml does.

    `others` are problems of other kinds by their folders below `root`; they make the pack one of profile podium/1.
    Problems and files come in the order of their names, problems in that of release.yaml where it lists them.
    Raises PackRefused.
    """
    others, questions = others or {}, _questions(root)
    specs = _specs(_problem_folders(root, others))
    if not specs and not others and not questions:
        raise PackRefused("no_problems", f"no {SPEC_NAME} below {root}")
    head = _release_fields(root, release, list(specs.values()), mixes_kinds=bool(others or questions))
    metadata = _metadata(head)
    _check_profile(metadata.profile, [*others.values(), *questions])
    folders = _ordered(root, sorted([*specs, *others]), head)
    problems = [*_read_problems(folders, specs, others, metadata.profile), *questions]
    lines = [(problem.task_id, problem.to_line()) for problem in problems]
    metadata = problem_metadata_for(metadata, lines)
    return problem_pack_from(metadata.to_bytes(), b"".join(line for _, line in lines))


def _problem_folders(root: Path, others: Mapping[Path, ProblemRecord]) -> list[Path]:
    folders = sorted(path.parent for path in root.rglob(SPEC_NAME) if not path.is_symlink())
    if both := [folder for folder in folders if folder in others]:
        raise PackRefused("two_kinds", f"{both[0]} holds problems of two kinds; give each a folder of its own")
    return folders


def _questions(root: Path) -> list[ProblemRecord]:
    path = root / QUESTIONS_NAME
    return list(read_questions(path).problems) if path.is_file() and not path.is_symlink() else []


def _check_profile(profile: Profile, others: Sequence[ProblemRecord]) -> None:
    if others and profile is not Profile.PODIUM:
        kind = others[0].kind.replace("_", " ")
        raise PackRefused("wrong_profile", f"{RELEASE_NAME}: {kind} problems need `profile: {Profile.PODIUM}`")


def _ordered(root: Path, folders: Sequence[Path], head: Mapping[str, Any]) -> list[Path]:
    listed = head.get("problems")
    if listed is None:
        return list(folders)
    by_name = {folder.relative_to(root).as_posix(): folder for folder in folders}
    if not isinstance(listed, list) or sorted(map(str, listed)) != sorted(by_name):
        raise PackRefused("wrong_order", f"`problems` in {RELEASE_NAME} must list every problem's folder once")
    return [by_name[name] for name in listed]


def _release_fields(
    root: Path, release: str, specs: Sequence[Mapping[str, Any]], *, mixes_kinds: bool
) -> dict[str, Any]:
    path = root / RELEASE_NAME
    if path.exists():
        return _load_yaml(path)
    ours = mixes_kinds or any(
        spec.get("group") not in STRICT_GROUPS or _type_of(spec) in ("cpp", "python") for spec in specs
    )
    return {"release": release, "profile": (Profile.PODIUM if ours else Profile.COMPUTE_EVAL).value}


def _type_of(spec: Mapping[str, Any]) -> Any:
    return spec.get("type", spec.get("problem_type"))


def _metadata(head: Mapping[str, Any]) -> ProblemPackMetadata:
    fields = {key: value for key, value in head.items() if key != "problems"} | {"total_count": 0}
    unknown = sorted(fields.keys() - ProblemPackMetadata.model_fields.keys())
    if unknown:
        raise PackRefused("unknown_field", f"{RELEASE_NAME}: unknown field `{unknown[0]}`")
    try:
        return parse_problem_metadata(fields)
    except RecordError as error:
        raise PackRefused("bad_metadata", f"{RELEASE_NAME}: {error}") from error


def _specs(folders: Sequence[Path]) -> dict[Path, dict[str, Any]]:
    """The decoded spec of each folder. Raises PackRefused with every one that cannot be read."""
    specs: dict[Path, dict[str, Any]] = {}
    faults: list[PackRefused] = []
    for folder in folders:
        try:
            specs[folder] = _load_yaml(folder / SPEC_NAME)
        except PackRefused as refused:
            faults.append(refused)
    raise_all(faults)
    return specs


def _read_problems(
    folders: Sequence[Path],
    specs: Mapping[Path, Mapping[str, Any]],
    others: Mapping[Path, ProblemRecord],
    profile: Profile,
) -> list[ProblemRecord]:
    """The problems in the order of `folders`. Raises PackRefused with the faults of all of them."""
    problems: list[ProblemRecord] = []
    faults: list[PackRefused] = []
    for folder in folders:
        try:
            problems.append(others.get(folder) or _read_problem(folder, specs[folder], profile))
        except PackRefused as refused:
            faults.append(refused)
    raise_all(faults, problems)
    return problems


def _read_problem(folder: Path, spec: Mapping[str, Any], profile: Profile) -> CommandProblem:
    where = folder / SPEC_NAME
    try:
        kind_of(spec, profile)
    except RecordError as error:
        raise PackRefused("bad_record", f"{where}: {error}") from error
    unknown = sorted(spec.keys() - _SPEC_KEYS)
    if unknown and profile is Profile.PODIUM:
        raise PackRefused("unknown_field", f"{where}: unknown field `{unknown[0]}`")
    fields = {key: value for key, value in spec.items() if key not in ("problem_type", COMMON_NAME)}
    fields |= {"type": _type_of(spec)} if _type_of(spec) is not None else {}
    fields |= {key: _read_files(folder / name) for key, name in _FILE_FOLDERS.items()}
    fields["test_files"] = _with_common(fields["test_files"], folder, spec.get(COMMON_NAME, []))
    if solution := _read_files(folder / "solution"):
        fields["baseline_solution"] = {"type": "file", "task_id": spec.get("task_id"), "files": solution}
    try:
        return problem_from(fields, profile)
    except RecordError as error:
        raise PackRefused("bad_record", f"{where}: {error}") from error


def _read_files(folder: Path) -> list[dict[str, str]]:
    """Every file at or below the folder but those that Python compiled beside its modules."""
    found = (path for path in folder.rglob("*") if path.parent.name != "__pycache__")
    paths = sorted(path for path in found if not path.is_dir() or path.is_symlink())
    return [{"path": path.relative_to(folder).as_posix(), "content": _read_text(path)} for path in paths]


def _with_common(files: list[dict[str, str]], folder: Path, listed: Any) -> list[dict[str, str]]:
    """The test files and those that the spec takes from the release's common folder, in the order of their names."""
    if not listed:
        return files
    where, own = f"{folder / SPEC_NAME}: `{COMMON_NAME}`", {file["path"] for file in files}
    if not isinstance(listed, list) or not all(isinstance(path, str) for path in listed):
        raise PackRefused("bad_common", f"{where} must be a list of paths")
    if folder.parent.name != "problems":
        words = f"{where} needs the layout of a release: problems/{folder.name}, and {COMMON_NAME} beside problems"
        raise PackRefused("bad_common", words)
    for path in listed:
        if reason := why_bad_path(path):
            raise PackRefused("bad_path", f"{where}: {reason}")
        if path in own:
            raise PackRefused("bad_common", f"{where}: {path} is in the problem's own folder or listed twice; keep one")
        if not (common := folder.parents[1] / COMMON_NAME / path).is_file():
            raise PackRefused("bad_common", f"{where}: the file {common} is missing")
        files = [*files, {"path": path, "content": _read_text(common)}]
        own.add(path)
    return sorted(files, key=lambda file: Path(file["path"]))


def _read_text(path: Path) -> str:
    if path.is_symlink():
        raise PackRefused("link", f"{path} is a link; put the file itself there")
    if path.stat().st_size > DEFAULT_LIMITS.file_bytes:
        raise PackRefused("too_large", f"{path} is larger than {DEFAULT_LIMITS.file_bytes // MEBIBYTE} MiB")
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise PackRefused("not_text", f"{path} is not UTF-8 text (byte {error.start})") from error


def _load_yaml(path: Path) -> dict[str, Any]:
    data = read_yaml(_read_text(path), path)
    if not isinstance(data, dict):
        raise PackRefused("bad_yaml", f"{path}: must be a mapping of fields to values")
    return {str(key): _dates_as_text(value) for key, value in data.items()}


def _dates_as_text(value: Any) -> Any:
    """YAML takes an unquoted 2025-10-31 for a date; records hold text."""
    return value.isoformat() if isinstance(value, datetime.date) else value


def write_problem_directory(pack: ProblemPack, root: Path) -> None:
    """Write a pack as a tree of problem folders below `root`, which must not exist or be empty.

    Reading it back gives equal problems; files within a record come back in the order of their names.
    """
    names = _folder_names([record.problem.task_id for record in pack.records])
    root.mkdir(parents=True, exist_ok=True)
    if any(root.iterdir()):
        raise PackRefused("not_empty", f"{root} is not empty")
    head = pack.metadata.model_dump(mode="json", exclude={"task_id_hashes", "total_count"})
    _write_yaml(root / RELEASE_NAME, {**head, "problems": list(names.values())})
    for record in pack.records:
        _write_problem(as_command(record.problem), root / names[record.problem.task_id])


def _folder_names(task_ids: Sequence[str]) -> dict[str, str]:
    names = {task_id: task_id.replace("/", "-") for task_id in task_ids}
    bad = next((name for name in names.values() if why_bad_path(name)), None)
    if bad is not None or len(set(names.values())) < len(names):
        raise PackRefused("bad_task_id", f"task_ids do not give folder names of their own: {bad or 'two agree'}")
    return names


def _write_problem(problem: CommandProblem, folder: Path) -> None:
    fields = problem.model_dump(mode="json", exclude={*_FILE_FOLDERS, "type", "baseline_solution"})
    folder.mkdir()
    for key, name in _FILE_FOLDERS.items():
        _write_files(folder / name, getattr(problem, key))
    baseline = problem.baseline_solution
    if isinstance(baseline, FileSolution) and baseline.files:
        _write_files(folder / "solution", baseline.files)
    elif baseline is not None:
        fields["baseline_solution"] = baseline.model_dump(mode="json")
    _write_yaml(folder / SPEC_NAME, {"problem_type": problem.type, **fields})


def _write_files(folder: Path, files: Sequence[SourceFile]) -> None:
    for file in files:
        if reason := why_bad_path(file.path):
            raise PackRefused("bad_path", reason)
        path = folder / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content.encode())


_RARE_BREAKS = frozenset("\r\x85\u2028\u2029\ufeff")


class _BlockDumper(yaml.SafeDumper):
    """Writes text of several lines as a block, which people can read and edit."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    """YAML folds its rarer line breaks into blanks unless they are quoted."""
    style = '"' if _RARE_BREAKS.intersection(text) else "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_BlockDumper.add_representer(str, _represent_text)


def _write_yaml(path: Path, fields: Mapping[str, Any]) -> None:
    text = yaml.dump(dict(fields), Dumper=_BlockDumper, sort_keys=False, allow_unicode=True, width=110)
    path.write_text(text, encoding="utf-8", newline="")
