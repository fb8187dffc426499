"""Proves the whole path on this machine, with its GPU or with --cpu: site, site worker, folder broker, `podium node`.

A node is enrolled, a track made of its hardware and a release published on the site's own pages; two entrants are
submitted by `podium` and graded; a third one's node is killed in the midst and started again. Verdicts must be those
that the examples state, times must count where they should, and nothing may outlive a killed node.

Exit status: 0 all is as it should be, 1 something is wrong (the ends of all logs are shown), 2 bad input or a machine
that lacks something.
"""

import sys

from tests.gpu.fleet.options import parsed
from tests.gpu.fleet.walk import is_well


def main(arguments: list[str] | None = None) -> int:
    return 0 if is_well(parsed(__doc__ or "", arguments)) else 1


if __name__ == "__main__":
    sys.exit(main())
