"""Facts of the public API and of the node's page on the node and its track."""

import json
import re
from typing import Any

from podium.remote.api_client import ApiClient
from podium.remote.site_config import Site
from tests.gpu.fleet.organiser import NODE
from tests.gpu.fleet.pages import Browser, words_of
from tests.gpu.fleet.report import Failed, Report

Row = dict[str, Any]


class Facts:
    """As anybody sees them, signed in or not."""

    def __init__(self, url: str, report: Report) -> None:
        self._api = ApiClient(Site(url))
        self._browser = Browser(url)
        self._report = report

    def node(self) -> Row:
        """Raises Failed once the site or the node itself has disabled it."""
        node = next(one for one in self._api.rows("nodes/") if one["slug"] == NODE)
        if not node["is_enabled"]:
            raise Failed(f"the node is disabled: {node['disabled_reason']}")
        return node

    def track(self, slug: str) -> Row:
        return next(one for one in self._api.rows("tracks/") if one["slug"] == slug)

    def hardware(self, needs: str) -> Row | None:
        """Once the node has told it, with something under `needs`."""
        found: Row = self.node()["hardware"]
        return found if found.get(needs) else None

    def measured(self, track: str) -> Row | None:
        """The node, once it has a golden run and peaks, and so has its track."""
        node = self.node()
        golden = "Golden program" in self._node_page()
        return node if golden and node["peaks"] and self.track(track)["peaks"] else None

    def attempts(self) -> str:
        """The node page's sentence on them."""
        found = re.search(r"In the last 24 hours: [^.]*\.", words_of(self._node_page()))
        return found[0] if found else "no attempts on the node's page"

    def tell(self, track: str) -> None:
        say, node = self._report.say, self.node()
        found = node["hardware"]
        say(
            f"node {node['slug']}: online {node['is_online']}, grants {node['grants']}, last drift {node['last_drift']}"
        )
        for gpu in found["gpus"]:
            say(f"  GPU {json.dumps(gpu)}")
        say(f"  {found['cpu_model']}, {found['cpu_cores']} cores, kernel {found['kernel']}, {found['toolkits']}")
        limited = f"{found['memory_limit_by']} {found['memory_limit_why']}"
        say(f"  sandbox {found['sandbox']}, memory limited by {limited}, profilers {found['profilers']}")
        for uuid, said in node["peaks"].items():
            say(f"  peaks of {uuid}: {json.dumps(said['peaks'])}")
        for line in self._golden():
            say(f"  golden: {line}")
        say(f"track {json.dumps(self.track(track))}")

    def _golden(self) -> list[str]:
        """The first rows of the table below the chart of golden runs."""
        table = r"<tbody>((?:(?!</tbody>).)*)</tbody>\s*</table></div>\s*</details>\s*</figure>"
        found = re.search(table, self._node_page(), re.DOTALL)
        rows = re.findall(r"<tr>(.*?)</tr>", found[1], re.DOTALL) if found else []
        return [words_of(row) for row in rows[:6]]

    def _node_page(self) -> str:
        return self._browser.get(f"/nodes/{NODE}/").text
