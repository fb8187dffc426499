"""The commands that talk to a site: login, submit, watch, results, releases, board."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any, BinaryIO, NoReturn

import typer
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from podium.remote import dry_run as dry_runs
from podium.remote import precheck, site_config, tables
from podium.remote.api_client import ApiClient, ApiRefused
from podium.remote.site_config import NotConfigured, Site
from podium.remote.upload import CannotSend, UploadBody, is_pack, opened_pack, solution_files
from problems.formats.coverage import Coverage
from problems.formats.errors import PackRefused
from problems.spec.kinds import Kind

POLL_SECONDS = 1.0
LOST_AFTER_SECONDS = 300.0
"""Maximum wait of `watch` for a site that does not answer. The site's work goes on without `watch`."""
INTERRUPTED = 130

told = Console(stderr=True)
"""Console for messages, on standard error. Standard output carries only data."""

ReleaseName = Annotated[str, typer.Option("--release", "-r", help="The release's slug.")]
TrackNames = Annotated[list[str] | None, typer.Option("--track", "-t", help="Repeat for several. Default: all.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the `podium` program."""
    for command in (login, submit, watch, choose, results, releases, board, compare):
        app.command()(command)


@contextmanager
def _refusals_as_exits() -> Iterator[None]:
    """Turn refusals and the user's errors into a message and exit status 1, without a stack trace."""
    try:
        yield
    except (ApiRefused, NotConfigured, PackRefused, CannotSend) as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"{error.filename or 'The file'} cannot be used: {error.strerror or error}.")


def _fail(words: str) -> NoReturn:
    told.print(words, style="red", markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1)


def _say(words: str) -> None:
    told.print(words, markup=False, highlight=False, soft_wrap=True)


def _client() -> ApiClient:
    return ApiClient(site_config.load())


def login(
    site_url: Annotated[str, typer.Argument(help="The site's address, as https://podium.example.org")],
) -> None:
    """Remember a site and an API token (read from PODIUM_TOKEN, standard input or a prompt, never from arguments)."""
    with _refusals_as_exits():
        site = Site(site_config.normal_url(site_url), _read_token())
        if site.sends_token_in_clear:
            _say(f"Careful: {site.url} is not https, so the token crosses the network in clear.")
        me = ApiClient(site).get("me")
        path = site_config.save(site)
        _say(f"Signed in to {site.url} as {me['username']} (scopes: {', '.join(me['scopes'] or [])}). Kept in {path}.")


def _read_token() -> str:
    import os

    if token := os.environ.get("PODIUM_TOKEN"):
        return token.strip()
    if not sys.stdin.isatty():
        token = sys.stdin.readline().strip()
    else:
        token = typer.prompt("API token (from your account page)", hide_input=True, err=True).strip()
    if not token:
        raise NotConfigured("No token was given. Make one on the site's account page.")
    return token


def submit(
    path: Annotated[
        Path, typer.Argument(exists=True, help="A solutions pack, a folder of solutions, or a source file.")
    ],
    release: ReleaseName,
    entrant: Annotated[str, typer.Option("--entrant", "-e", help="The slug of an entrant of yours.")],
    track: TrackNames = None,
    task: Annotated[str, typer.Option(help="The task_id that one source file or folder of files solves.")] = "",
    counted: Annotated[bool, typer.Option(help="Whether a full submission shall be the counted one.")] = True,
    note: Annotated[str, typer.Option(help="A remark shown with the submission.")] = "",
    licence: Annotated[str, typer.Option(help="Licence of the code, as SPDX: Apache-2.0. Shown with it.")] = "",
    coverage: Annotated[
        Coverage | None,
        typer.Option(
            help="Of a file that lacks problems. full: they count as failed; partial: not ranked on the board."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Ask the site what it would say, and store nothing. 1 if it would refuse.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Apply ComputeEval's own rules to the whole pack.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Stay and show progress until it is done.")] = False,
) -> None:
    """Check a submission here, then send it. Prints its number; sending the same again is harmless."""
    with _refusals_as_exits():
        client = _client()
        facts = client.get(f"releases/{release}")
        order: dict[str, Any] = {"release": release, "entrant": entrant, "tracks": track or facts["tracks"]}
        order |= {"counted": counted, "note": note, "licence": licence}
        files = {"task_id": task, "files": _files(client, release, task, path)} if task else {}
        of_pack = {"coverage": coverage.value if coverage else "", "strict": strict}
        if dry_run:
            _dry_run(client, path, {**order, **(files or of_pack)})
            return
        if files:
            status, made = client.post("submissions", {**order, **files})
        else:
            status, made = _send_pack(client, path, facts, {**order, **of_pack})
        _tell_made(status, made)
    typer.echo(made["id"])
    if wait:
        watch(made["id"])


def _files(client: ApiClient, release: str, task: str, path: Path) -> list[dict[str, str]]:
    """The files of one solution. Those to a function problem are checked here first."""
    found = next((row for row in client.rows(f"releases/{release}/problems") if row["task_id"] == task), None)
    if found is None or found["kind"] != Kind.FUNCTION:
        return solution_files(path)
    return precheck.function_files(client.get(f"releases/{release}/problems/{found['slug']}"), path)


def _dry_run(client: ApiClient, path: Path, order: Mapping[str, Any]) -> None:
    """Print what the site would say. Exit status 1 if it would refuse."""
    if "files" in order:
        _, said = client.post("submissions/check", order)
    else:
        with _pack_to_send(path) as (name, file):
            _, said = _upload(client, "submissions/check", name, file, order)
    for line in dry_runs.lines(said):
        _say(line)
    if not said["accepted"]:
        raise typer.Exit(1)


def _send_pack(client: ApiClient, path: Path, facts: Mapping[str, Any], order: Mapping[str, Any]) -> tuple[int, Any]:
    catalogue = precheck.catalogue_from(facts, client.rows(f"releases/{facts['slug']}/problems"))
    with _pack_to_send(path) as (name, file):
        incoming = precheck.check(file, name, catalogue, bool(order["strict"]), str(order["coverage"]))
        _say(precheck.report(incoming, catalogue))
        file.seek(0)
        return _upload(client, "submissions", name, file, order)


@contextmanager
def _pack_to_send(path: Path) -> Iterator[tuple[str, BinaryIO]]:
    if not path.is_dir() and not is_pack(path):
        raise CannotSend(f"{path} is not a pack (.tar.gz, .zip, .jsonl). To send one source file, name its --task.")
    with opened_pack(path) as opened:
        yield opened


def _upload(client: ApiClient, address: str, name: str, file: BinaryIO, order: Mapping[str, Any]) -> tuple[int, Any]:
    with _upload_bar() as bar:
        task = bar.add_task("Sending", total=None)
        body = UploadBody(_form(order), name, file, on_sent=lambda n_bytes: bar.advance(task, n_bytes))
        bar.update(task, total=len(body))
        return client.upload(address, body)


def _form(order: Mapping[str, Any]) -> list[tuple[str, str]]:
    fields: list[tuple[str, str]] = []
    for name, value in order.items():
        values = value if isinstance(value, list) else [value]
        fields += [(name, str(one).lower() if isinstance(one, bool) else str(one)) for one in values]
    return fields


def _upload_bar() -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        console=told,
        transient=True,
        disable=not told.is_terminal,
    )


def _tell_made(status: int, made: Mapping[str, Any]) -> None:
    for notice in made.get("notices", []):
        _say(f"  {notice}")
    _say(f"{'Submitted' if status == 201 else 'Nothing was stored again'}: #{made['id']} {made['page']}")


def watch(submission: Annotated[int, typer.Argument(metavar="ID", help="The submission's number.")]) -> None:
    """Show a submission's progress until it is done. Leaving early loses nothing."""
    with _refusals_as_exits():
        try:
            last = _follow(_client(), submission)
        except KeyboardInterrupt:
            _say(f"Submission #{submission} goes on without you. `podium watch {submission}` shows it again.")
            raise typer.Exit(INTERRUPTED) from None
    _say(f"Submission #{submission} is {last['state']}. {tables.progress_words(last)}")
    if last["state"] != "done":
        raise typer.Exit(1)


def _follow(client: ApiClient, submission: int) -> Any:
    columns = (TextColumn("#{task.fields[id]}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns, TextColumn("{task.description}"), console=told, transient=True, disable=not told.is_terminal
    ) as bar:
        task = bar.add_task("", id=submission, total=None)
        while True:
            now = _patiently(client, f"submissions/{submission}/progress")
            bar.update(task, total=now["total"], completed=now["done"], description=tables.progress_words(now))
            if now["state"] != "accepted":
                return now
            time.sleep(POLL_SECONDS)


def _patiently(client: ApiClient, path: str) -> Any:
    """Read JSON. Retries while the site is unavailable or limits requests."""
    give_up_at = time.monotonic() + LOST_AFTER_SECONDS
    while True:
        try:
            return client.get(path)
        except ApiRefused as refused:
            if refused.status < 500 and refused.code not in {"unreachable", "throttled"}:
                raise
            if time.monotonic() > give_up_at:
                raise
            time.sleep(POLL_SECONDS)


def choose(
    submission: Annotated[int, typer.Argument(metavar="ID", help="The submission's number.")], track: TrackNames = None
) -> None:
    """Make a finished full submission of yours the one that counts, until its release closes."""
    with _refusals_as_exits():
        _, chosen = _client().post(f"submissions/{submission}/choose", {"tracks": track} if track else {})
        _say(f"Submission #{submission} counts on {', '.join(chosen['counted_on'])}.")


def results(
    submission: Annotated[int, typer.Argument(metavar="ID", help="The submission's number.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines on standard output instead of a table.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the JSON lines to this file.")] = None,
    track: Annotated[str, typer.Option(help="Only this track.")] = "",
) -> None:
    """The verdicts, times and flags of a submission's samples, and of your own ones what failed first."""
    with _refusals_as_exits():
        asked = {"track": track} if track else {}
        rows = _client().lines(f"submissions/{submission}/results.jsonl", **asked)
        if not as_json and out is None:
            read = list(rows)
            tables.print_table(tables.results_table(read))
            if failures := tables.failures_table(read):
                tables.print_table(failures)
            return
        with out.open("w", encoding="utf-8") if out else nullcontext(sys.stdout) as target:
            for row in rows:
                target.write(json.dumps(row, ensure_ascii=False) + "\n")


def releases() -> None:
    """The releases that you may see."""
    with _refusals_as_exits():
        tables.print_table(tables.releases_table(list(_client().rows("releases"))))


def board(
    release: Annotated[str, typer.Argument(help="The release's slug.")],
    track: Annotated[str, typer.Option(help="A track's slug; the first when left out.")] = "",
    k: Annotated[int, typer.Option(help="The k of pass@k; 0 takes the release's own.")] = 0,
    group: Annotated[list[str], typer.Option(help="Rank over problems of this group; may be repeated.")] = [],  # noqa: B006
    tag: Annotated[list[str], typer.Option(help="Rank over problems with this tag; may be repeated.")] = [],  # noqa: B006
    difficulty: Annotated[list[str], typer.Option(help="Rank over problems of this difficulty.")] = [],  # noqa: B006
    as_of: Annotated[str, typer.Option(help="The board at the end of this day (UTC), as 2026-01-31.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The site's JSON instead of a table.")] = False,
) -> None:
    """The standings of a release on one track, over all of its problems or some."""
    with _refusals_as_exits():
        chosen = {"track": track, "k": k, "groups": group, "tags": tag, "difficulty": difficulty, "as_of": as_of}
        asked: dict[str, Any] = {"limit": 500, **{name: value for name, value in chosen.items() if value}}
        found = _client().get(f"releases/{release}/board", **asked)
        if as_json:
            typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        else:
            _print_board(found)


def _print_board(found: Mapping[str, Any]) -> None:
    """Print a board. A terminal shows as many of its first columns as fit."""
    if found["not_ranked"]:
        _say(found["not_ranked"])
    elif found["problems"] < found["problems_of_release"]:
        _say(f"Ranked over {found['problems']} of {found['problems_of_release']} problems.")
    if left_out := tables.print_board(found):
        _say(f"No room here for {', '.join(left_out)}: a wider terminal shows them, as does --json.")


def compare(
    release: Annotated[str, typer.Argument(help="The release's slug.")],
    entrants: Annotated[list[str], typer.Argument(help="Two to six entrants' slugs; the first is the one to beat.")],
    track: Annotated[str, typer.Option(help="A track's slug; the first when left out.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The site's JSON instead of a table.")] = False,
) -> None:
    """Entrants of one board against each other: paired differences with 95 % intervals, and wins."""
    with _refusals_as_exits():
        asked: dict[str, Any] = {"entrant": entrants, **({"track": track} if track else {})}
        found = _client().get(f"releases/{release}/compare", **asked)
        if as_json:
            typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        else:
            tables.print_table(tables.comparison_table(found))
