"""`make demo`: publish the demo's releases once verified, grade their entrants by the public API, serve the boards."""

import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from rich.console import Console

from demo import screen
from demo.client import Client
from demo.entrants import DemoEntrant, solution_pack
from demo.environment import DemoRefused, chosen_port, prepare
from demo.releases import load_releases, why_without_functions
from demo.seed_types import BoardName, LiveRelease, Seed
from demo.services import Services, ServicesFailed
from podium.remote.api_client import ApiRefused
from podium.remote.tables import board_table
from problems.formats.errors import PackRefused
from runners.agent.sandbox import Sandbox, choose


def main() -> int:
    """0: done, or stopped by Ctrl-C after the board; 1: something failed or ended otherwise than the demo says."""
    console = Console(soft_wrap=not sys.stdout.isatty())
    stop_after_board = os.environ.get("DEMO_EXIT", "") not in ("", "0")
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, _interrupt)
    try:
        port = chosen_port()
        prepare(port)
        return _run(console, port, stop_after_board)
    except (DemoRefused, ServicesFailed, ApiRefused) as error:
        console.print(str(error), style="red", markup=False, highlight=False)
        return 1
    except KeyboardInterrupt:
        console.print("\nStopped.")
        return 0 if not stop_after_board else 130


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _run(console: Console, port: int, stop_after_board: bool) -> int:
    sandbox = choose()
    with console.status("Preparing the releases and the database …"):
        seed = _prepare_rows(sandbox)
    sandbox.close()
    if why := why_without_functions(sandbox):
        console.print(why, style="yellow", markup=False, highlight=False)
    os.environ["PODIUM_NODE_TOKEN"] = seed.node_token
    site_url = os.environ["PODIUM_SITE_URL"]
    with Services(Path(os.environ["PODIUM_VAR_DIR"]) / "log" / "demo.log", port) as services:
        with console.status("Starting site, site worker and node …"):
            services.wait_until_ready()
        _publish(console, services, [one.board.release for one in seed.live])
        client = Client(site_url, seed.api_token)
        wrong = _grade(console, client, services, seed.live)
        for board in seed.imported:
            _show_imported(console, client, services, board)
        console.print(f"\nAll releases: {site_url}/", highlight=False)
        _report(console, wrong)
        if not stop_after_board:
            console.print("Serving until Ctrl-C.")
            _serve(services)
        return 1 if wrong else 0


def _prepare_rows(sandbox: Sandbox) -> Seed:
    """Migrate, gather static files, read the releases, seed. In this process, so that Django starts once."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    from demo.seed import seed
    from leaderboard.errors import Refused

    try:
        return seed(load_releases(sandbox), sandbox)
    except (Refused, PackRefused) as error:
        raise DemoRefused(f"The demo's own data cannot be imported. {error}") from error


def _publish(console: Console, services: Services, releases: Sequence[str]) -> None:
    from demo.publication import verify_and_publish  # after Django is set up

    verify_and_publish(console, services, releases)


def _grade(console: Console, client: Client, services: Services, live: Sequence[LiveRelease]) -> list[str]:
    """Submit, watch, show the boards; returns a line for each evaluation that ended otherwise than expected."""
    submissions = {entrant.slug: _submit(client, one, entrant) for one in live for entrant in one.entrants}
    titles = {entrant.slug: entrant.title for one in live for entrant in one.entrants}
    screen.watch(console, client, services, {titles[slug]: number for slug, number in submissions.items()})
    for one in live:
        _show(console, client, services, one)
    return [
        line
        for one in live
        for entrant in one.entrants
        for line in _differences(entrant, one, client.results(submissions[entrant.slug]))
    ]


def _submit(client: Client, one: LiveRelease, entrant: DemoEntrant) -> int:
    pack = solution_pack(entrant, one.datapack_release, one.task_ids)
    return client.submit(one.board.release, one.board.track, entrant.slug, pack)


def _show(console: Console, client: Client, services: Services, one: LiveRelease) -> None:
    entrants = {entrant.slug for entrant in one.entrants}
    board = screen.ranked_board(client, services, one.board.release, one.board.track, entrants)
    console.print(board_table(screen.narrow(board)))
    console.print(f"The board: {os.environ['PODIUM_SITE_URL']}/releases/{one.board.release}/", highlight=False)


def _show_imported(console: Console, client: Client, services: Services, place: BoardName) -> None:
    """A GPU board, marked as what it is: measured elsewhere, imported as data."""
    board = screen.ranked_board(client, services, place.release, place.track, set())
    console.print(board_table(screen.narrow(board)))
    console.print(f"Imported: {board['imported']}.", markup=False, highlight=False)
    console.print(f"The board: {os.environ['PODIUM_SITE_URL']}/releases/{place.release}/", highlight=False)


def _differences(entrant: DemoEntrant, one: LiveRelease, rows: Sequence[dict[str, object]]) -> list[str]:
    found = {(row["task_id"], row["sample"]): row["verdict"] for row in rows}
    expected = {(one.task_ids[slug], index): verdict for (slug, index), verdict in entrant.expected.items()}
    return [
        f"{entrant.title}, {task_id}, sample {index}: {found.get((task_id, index), 'nothing')}, expected {verdict}"
        for (task_id, index), verdict in expected.items()
        if found.get((task_id, index)) != verdict
    ]


def _report(console: Console, wrong: Sequence[str]) -> None:
    if not wrong:
        console.print("Every evaluation ended as the demo says it should.")
        return
    console.print(f"{len(wrong)} evaluations ended otherwise than the demo says:", style="red")
    for line in wrong:
        console.print(f"  {line}", markup=False, highlight=False)


def _serve(services: Services) -> None:
    while True:
        services.check()
        time.sleep(1)


if __name__ == "__main__":
    sys.exit(main())
