"""A function problem's page: signature, cases, limits, and a form for each language."""

import re
from typing import Any

import pytest
from django.urls import reverse

from leaderboard.models import Submission
from problems.actions import releases as release_actions
from problems.models import Release
from problems.spec.kinds import Kind
from runners.fleet.models import Service
from tests import factories, function_site, packs
from tests.factories import Cast
from tests.function_site import LARGE
from tests.markup import markup
from tests.spec.functions import manifest_fields
from tests.web.functions.mixed_site import FunctionSite, text_of


def test_the_page_shows_signature_parameters_accuracy_cases_and_limits(client: Any, site: FunctionSite) -> None:
    text = text_of(client, site.page)
    code = re.sub("<[^>]+>", "", text)
    assert 'extern "C" void solution(const float* x, float* y, size_t rows, size_t cols)' in code
    assert "def solution(x, y, rows, cols)" in code
    assert "written by the solution" in text
    assert "1e-06 + 1e-05 × |expected|. Reason: one rounding per operation." in text
    assert f'<th scope="row" class="one-line">{LARGE}</th><td class="num">512 × 4096</td>' in text
    assert "1.05 × 10⁷" in text, "5 operations for each of 512 × 4096 elements"
    assert "60 s for all calls of one process together, 2.0 GiB of memory, on a CPU" in text
    assert "weights" not in text


def test_the_page_says_of_weights_and_structure_that_they_stay_the_same_in_a_process(client: Any, db: None) -> None:
    roles = {"x": "data", "w": "weight", "index": "structure"}
    given = [{"name": name, "kind": "array", "dtype": "float32", "role": role} for name, role in roles.items()]
    written = {"name": "y", "kind": "array", "direction": "out", "dtype": "float32"}
    case = {"name": "4", "shapes": {name: [4] for name in (*roles, "y")}, "ranks": True}
    manifest = manifest_fields(parameters=[*given, written], cases=[case])
    podium = {"title": "Lookup"}
    fields = function_site.function("lookup", manifest=manifest, baseline_solution=None, metadata={"podium": podium})
    release = release_actions.import_release(packs.problem_pack([fields], "lookup-1")).release
    Release.objects.filter(pk=release.pk).update(is_public=True)
    release_actions.publish(release)
    address = reverse("problem", args=[release.slug, "lookup"])
    text = text_of(client, address)
    code = re.sub("<[^>]+>", "", text)
    assert 'extern "C" void setup(const float* w, const float* index)' in code
    assert "def setup(w, index)" in code
    assert ">drawn anew for each call</td>" in text
    assert ">weights: drawn once in each process, the same for all its calls of a case</td>" in text
    assert ">structure: the same for all calls of a case in a process, and perhaps in every process</td>" in text
    assert "drawn anew for each call, but weights and structure once in each process." in text


@pytest.mark.parametrize(
    ("who", "sees"), [(None, set()), ("owner", set()), ("organiser", {"definition words", "reference words"})]
)
def test_only_organisers_read_the_definition_and_the_reference(
    client: Any, cast: Cast, site: FunctionSite, who: str | None, sees: set[str]
) -> None:
    if who:
        client.force_login(getattr(cast, who))
    pages = [site.page, site.evaluation(1).get_absolute_url(), f"/api/v1/releases/mixed-1/problems/{site.problem.slug}"]
    text = "".join(text_of(client, page) for page in pages)
    assert {words for words in ("definition words", "reference words") if words in text} == sees


def test_the_form_begins_with_the_scaffold_of_the_chosen_language(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    usual = text_of(client, site.page)
    assert 'value="solution.cpp"' in usual
    assert "void solution(const float* x" in usual
    chosen = text_of(client, site.page, language="python", track=site.track.slug)
    assert 'value="solution.py"' in chosen
    assert "y[...] = np.zeros_like(y)" in chosen
    assert "?language=cpp&amp;track=cpu-test#try" in chosen
    assert 'value="solution.cpp"' in text_of(client, site.page, language="cuda"), "only what the problem allows"


def test_the_form_says_whether_a_node_serves_its_tracks(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    told = text_of(client, site.page)
    assert "no node online: queued until one returns" in told
    waits = "What you send to it waits until a node does."
    buttons = told.partition("Submit this solution</button>")[2].partition('id="trial"')[0]
    assert f"No node takes track {site.track.slug}: none is granted it. {waits}" in buttons
    node = factories.grant(factories.NodeFactory(), site.track).node
    shown = text_of(client, site.page)
    assert "1 node online, idle, 0 queued" in shown
    assert waits not in shown
    type(node).objects.update(disabled_reason="a new driver", service=Service.DRAINING)
    sentence = f"No node takes track {site.track.slug} now: {node.slug} is draining (a new driver). {waits}"
    assert sentence in text_of(client, site.page)
    refreshed = " ".join(markup(client.get(reverse("track_states"), {"track": site.track.slug})).split())
    assert '<div id="nobody" role="status" hx-swap-oob="true">' in refreshed
    assert sentence in refreshed
    assert f'hx-get="{reverse("track_states")}?track={site.track.slug}"' in shown
    assert f'name="tracks" value="{site.track.slug}"' in shown


def test_a_command_problem_offers_no_choice_of_language(client: Any, cast: Cast, site: FunctionSite) -> None:
    client.force_login(cast.owner)
    command = site.release.problems.get(kind=Kind.COMMAND)
    text = text_of(client, reverse("problem", args=[site.release.slug, command.slug]))
    assert 'aria-label="Language"' not in text
    assert 'value="solution.sh"' in text


def typed(client: Any, site: FunctionSite, path: str, content: str, **fields: str) -> Any:
    address = reverse("submit_typed", args=[site.release.slug, site.problem.slug])
    entry = {"entrant": "alpha", "tracks": [site.track.slug], "path-0": path, "content-0": content}
    return client.post(address, entry | fields)


@pytest.mark.parametrize(
    ("path", "content"), [("solution.cpp", function_site.CPP), ("solution.py", function_site.PYTHON)]
)
def test_each_allowed_language_is_submitted(
    client: Any, cast: Cast, site: FunctionSite, path: str, content: str
) -> None:
    client.force_login(cast.owner)
    before = Submission.objects.count()
    assert typed(client, site, path, content.replace("words", "typed anew")).status_code == 302
    assert Submission.objects.count() == before + 1
    assert Submission.objects.latest("pk").samples.get().invalid_reason == ""


@pytest.mark.parametrize(
    ("path", "content", "words"),
    [
        (
            "solution.cpp",
            function_site.WRONG_SIGNATURE,
            "solution.cpp line 1: `solution` takes 2 parameters; this problem&#x27;s takes 4: const float* x, float* y",
        ),
        ("solution.py", "import os\n", "solution.py defines no"),
        ("kernel.cpp", function_site.CPP, "is not a solution&#x27;s name; use solution.cpp or solution.py"),
        ("solution.cu", function_site.CPP, "solution.cu is cuda; this problem allows cpp, python"),
    ],
)
def test_what_the_rules_refuse_is_said_at_the_form_and_nothing_is_stored(
    client: Any, cast: Cast, site: FunctionSite, path: str, content: str, words: str
) -> None:
    client.force_login(cast.owner)
    before = Submission.objects.count()
    answer = typed(client, site, path, content, language="python")
    text = markup(answer)
    assert answer.status_code == 422
    assert words in text
    assert f'value="{path}"' in text, "what was typed stays"
    assert 'data-replaces="content-0">C++' in text
    assert Submission.objects.count() == before
