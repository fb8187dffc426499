"""`make demo`: serve the imported boards at once, verify and publish the others, grade their entrants by the API."""

import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from rich.console import Console

from demo.client import Client
from demo.environment import DemoRefused, chosen_port, prepare
from demo.releases import load_releases, why_without_functions
from demo.seed_types import BoardName, Seed
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
    with console.status("Preparing the database and the boards that were measured elsewhere …"):
        seed = _prepare_rows(sandbox)
    os.environ["PODIUM_NODE_TOKEN"] = seed.node_token
    site_url = os.environ["PODIUM_SITE_URL"]
    with Services(Path(os.environ["PODIUM_VAR_DIR"]) / "log" / "demo.log", port) as services:
        with console.status("Starting site, site worker and node …"):
            services.wait_until_ready()
        _greet(console, site_url, seed)
        client = Client(site_url, seed.api_token)
        wrong = _grade(console, client, services, sandbox)
        for board in seed.imported:
            _show_imported(console, client, board)
        console.print(f"\nAll releases: {site_url}/", highlight=False)
        _report(console, wrong)
        if not stop_after_board:
            console.print("Serving until Ctrl-C.")
            _serve(services)
        return 1 if wrong else 0


def _prepare_rows(sandbox: Sandbox) -> Seed:
    """Migrate, gather static files, seed what the site shows at once. In this process, so that Django starts once."""
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)
    call_command("collectstatic", verbosity=0, interactive=False)
    from demo.seed import seed_site

    with _own_data():
        return seed_site(sandbox)


@contextmanager
def _own_data() -> Iterator[None]:
    from leaderboard.errors import Refused  # after Django is set up

    try:
        yield
    except (Refused, PackRefused) as error:
        raise DemoRefused(f"The demo's own data cannot be imported. {error}") from error


def _greet(console: Console, site_url: str, seed: Seed) -> None:
    lines = [f"Open {site_url}/ : the site answers, and its first boards are there.", "These links sign in, once each:"]
    lines += [f"  organiser    {site_url}{seed.organiser_link}", f"  participant  {site_url}{seed.participant_link}"]
    console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def _grade(console: Console, client: Client, services: Services, sandbox: Sandbox) -> list[str]:
    """Verify, publish and grade each release, then show the boards; a line for each unexpected verdict."""
    from demo import screen  # after Django is set up
    from demo.course import Course
    from demo.seed import seed_live

    if why := why_without_functions(sandbox):
        console.print(why, style="yellow", markup=False, highlight=False)
    courses: list[Course] = []
    with screen.bars(console) as shown:
        reading = shown.add_task("Reading the releases that this machine grades", total=None, passed="")
        with _own_data():
            for release in load_releases(sandbox):
                courses.append(Course(seed_live(release), client, shown))
                for course in courses:
                    screen.step(shown, course)
        sandbox.close()
        shown.remove_task(reading)
        screen.watch(services, shown, courses)
    for course in courses:
        board = screen.ranked_board(client, services, course.one)
        _show(console, board, course.one.board)
    return [line for course in courses for line in course.differences()]


def _show(console: Console, board: dict[str, Any], name: BoardName) -> None:
    from demo import screen

    console.print(board_table(screen.narrow(board)))
    if board["imported"]:
        console.print(f"Imported: {board['imported']}.", markup=False, highlight=False)
    console.print(f"The board: {os.environ['PODIUM_SITE_URL']}/releases/{name.release}/", highlight=False)


def _show_imported(console: Console, client: Client, name: BoardName) -> None:
    """A board, marked as what it is: measured elsewhere, imported as data."""
    _show(console, client.board(name.release, name.track), name)


def _report(console: Console, wrong: Sequence[str]) -> None:
    if not wrong:
        console.print("Every evaluation ended as the demo says it should.")
        return
    console.print(f"Evaluations that ended otherwise than the demo says: {len(wrong)}.", style="red")
    for line in wrong:
        console.print(f"  {line}", markup=False, highlight=False)


def _serve(services: Services) -> None:
    while True:
        services.check()
        time.sleep(1)


if __name__ == "__main__":
    sys.exit(main())
