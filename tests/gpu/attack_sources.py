"""The attacks on the judge of functions on a GPU: what each must come to, and its text.

The sources are in `attacks`; their first lines say what they try. The problem is that of test_functions_on_device.py.
"""

import re
from pathlib import Path

from runners.wire.protocol import Verdict

SOURCES = Path(__file__).parent / "attacks"
SHARED = Path(__file__).parents[1] / "agent" / "functions" / "attacks"
"""Headers that attacks on a CPU and these include in quotes."""
MUST_FAIL = {
    "channel_forging.cu": "an answer that the checker does not wait for ends the sample",
    "decoy_thread.cu": "the outputs are copied at the answer, and hold the poison but for a hundredth",
    "deferred_exit.py": "the outputs are copied at each answer",
    "deferred_thread.cu": "the outputs are copied at the answer",
    "deferred_thread.py": "the outputs are copied at the answer",
    "early_done.cu": "an answer that the checker does not wait for ends the sample",
    "early_exit.cu": "an exit status is no answer",
    "easy_data.cu": "all elements of every call are compared, and some of each draw are hard",
    "event_patch.py": "the outputs are copied at the answer, before the work is done",
    "fingerprint_memo.cu": "every call has new data, of which all elements are compared",
    "freed_memory.py": "expected values lie in another process, and what is found belongs to an earlier call's data",
    "graph_replay.cu": "the outputs are poisoned before each call",
    "graph_replay.py": "every call has new data",
    "input_mutation.cu": "the inputs are compared with the checker's copy after each call",
    "input_watcher.cu": "a secret part of the inputs is written inside the clock",
    "launch_nothing_after_first.cu": "the outputs are poisoned before each call",
    "persisting_l2.cu": "the poison is written through the cache that holds the outputs",
    "pointer_memo.cu": "new data comes to the same addresses",
    "pointer_memo.py": "new data comes to the same addresses",
    "resident.cu": "a secret part of the inputs is written inside the clock",
    "second_context.cu": "the outputs are copied at the answer",
    "second_process.cu": "the outputs are copied at the answer",
    "side_stream.cu": "the outputs are copied at the answer, before the work is done",
    "stale_output.cu": "the outputs are poisoned before each call",
    "super_batch.cu": "the data of a call is not there before it",
}
"""The reason why each fails, by file."""
ENDS = {
    "channel_forging.cu": Verdict.TEST_FAILED,
    "early_done.cu": Verdict.TEST_FAILED,
    "early_exit.cu": Verdict.TEST_FAILED,
    "input_watcher.cu": Verdict.TIMED_OUT,
    "resident.cu": Verdict.TIMED_OUT,
    "second_process.cu": Verdict.TEST_FAILED,
    "side_stream.cu": Verdict.TEST_FAILED,
}
"""How those may end that do not end with a wrong answer."""
MAY_PASS = {
    "clock_patch.cu": "the clock is in the checker's process",
    "delta_update.cu": "all inputs change between calls, and its thread is stopped then",
    "forged_events.cu": "nobody asks for its events",
    "unjoined_stream.cu": "the call ends when all streams of the device are done, and not the default stream alone",
    "unjoined_stream.py": "the call ends when all streams of the device are done, and not the present stream alone",
}
"""The reason why each that does its work has an honest time then, by file."""
ATTACKS = sorted([*MUST_FAIL, *MAY_PASS])


def attack(file: str, *, honest: bool = False, left_share: int = 4) -> str:
    """The text of an attack, or of its honest twin."""
    own = (SOURCES / file).read_text()
    if file.endswith(".py"):
        shared, line = (SOURCES / "poly.py").read_text(), "from poly import work\n"
        assert "\nHONEST = False\n" in own
        assert line in own
        return own.replace("\nHONEST = False\n", f"\nHONEST = {honest}\n").replace(line, shared)
    defined = f"#define HONEST {int(honest)}\n#define LEFT_SHARE {left_share}\n"
    text = (SOURCES / "poly.h").read_text() + own
    return defined + re.sub(r'#include "(.+)"', lambda found: (SHARED / found[1]).read_text(), text)
