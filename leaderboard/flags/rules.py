"""Flags that nodes and imports raise, in words: the one place for pages. docs/flags.md has the same table."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FlagRule:
    """Sentences with Markdown code, as in the table of docs/flags.md."""

    means: str
    triggered_by: str
    advice: str
    """Advice for the contestant, and the honest causes that an organiser may dismiss."""


FLAG_RULES: Mapping[str, FlagRule] = {
    "no_device_work": FlagRule(
        "The timed part did nothing on the GPU.",
        "No kernel is timed, and the run copies and fills nothing.",
        "Do the work on the device, inside the harness's call. Honest if the harness itself times host work.",
    ),
    "open_range": FlagRule(
        "A timed range has no end.",
        "A timed range was entered and never left.",
        "Leave the harness's NVTX ranges alone, and return from every call. Honest if the harness leaves ranges open.",
    ),
    "idle_ranges": FlagRule(
        "Some timed calls launched nothing.",
        "Kernels are timed, but fewer of them than timed ranges.",
        "Do the work in each call; do not reuse an earlier answer. Honest if some calls need no kernel.",
    ),
    "dropped_records": FlagRule(
        "The profile is incomplete.",
        "The profiler lost records of kernels or ranges, or a launch left no record.",
        "Launch fewer kernels, and do not use CUPTI yourself. Honest with very many launches or ranges.",
    ),
    "slower_unwatched": FlagRule(
        "The program behaves differently without the profiler.",
        "`ranked` only: the run without the profiler took longer than the run with it by more than 15 % "
        "plus 0.25 s (Python: 5 s).",
        "Do not detect the profiler. Honest if something disturbed the machine: rerun the sample.",
    ),
    "other_ranges": FlagRule(
        "The timed ranges were entered a different number of times than the reference's.",
        "Mode `region` with `include`: the counts differ.",
        "Do not open or close ranges of the harness's names. Honest if the harness chooses its repeats by speed.",
    ),
    "cut_short": FlagRule(
        "A process that used the GPU ended before the profiler was finished.",
        "More such processes than the reference's, ended by `_exit` or a signal.",
        "End every process normally.",
    ),
    "other_processes": FlagRule(
        "The solution started processes that use the GPU.",
        "More processes used the device than the reference's.",
        "Work in the harness's process. Honest for a solution that needs helper processes.",
    ),
    "few_launches": FlagRule(
        "Surprisingly few kernels were timed.",
        "The benchmark does not check its work (`work_checked`), and fewer launches are timed than an "
        "eighth of the reference's, divided by its number of different kernels.",
        "Nothing, if you fused kernels: explain it to the organiser.",
    ),
    "work_outside": FlagRule(
        "Work moved from the timed part to another part of the run.",
        "Timed kernel time is below the reference's, and untimed kernel time grew by more than the "
        "largest of: a quarter of the saving, 0.05 ms, and 5 % of the reference's untimed kernel time.",
        "Do the work inside the timed call. Honest for preparation that the problem allows.",
    ),
    "late_work": FlagRule(
        "Timed work was still running after its range had ended.",
        "Mode `region` by wall clock: work ran on after the ranges by more than the reference's plus the "
        "larger of 0.05 ms and 5 % of the ranges' time.",
        "Finish or synchronise before you return. Honest if the harness closes ranges without synchronising.",
    ),
    "slower_by_the_clock": FlagRule(
        "Kernel time is lower, but the ranges took longer.",
        "Mode `region` by kernel time: the time is over 1 % below the reference's, and the ranges lasted "
        "more than 1.5 times the reference's plus 1 ms.",
        "Do not compute on the host or wait inside the range. Honest with many small launches or slow "
        "preparation in the range.",
    ),
    "saving_not_seen": FlagRule(
        "The whole run did not get shorter by the time saved.",
        "Also in mode `custom`. The unseen part of the saving exceeds 0.25 s (Python: 5 s) plus 15 % of "
        "the reference's run plus the host time of its ranges.",
        "Do not move work to another part of the run. Honest if loading or tuning outside the ranges takes long.",
    ),
    "host_work": FlagRule(
        "Work moved from the GPU to the processor.",
        "`quick` beside others, in place of `saving_not_seen`: more processor time than the reference's "
        "by more than 0.65 s (Python: 5.4 s) plus 60 %.",
        "Compute on the GPU. Honest if your program prepares more on the host than the reference does.",
    ),
    "longer_than_the_run": FlagRule(
        "A printed time is longer than the program ran.",
        "Mode `custom`: the time exceeds the run's wall time by more than 1 ms, and the reference's does not.",
        "Print milliseconds of your own run.",
    ),
    "unchecked_speedup": FlagRule(
        "A large speedup of work that nothing checks.",
        "The timed work is not checked, the clock is one that ranks, and the reference took more than 3 times as long.",
        "Nothing, if your code is that fast: explain it to the organiser. Organisers: let the benchmark "
        "check its work.",
    ),
    "unrecorded_work": FlagRule(
        "The GPU was busier than the profile shows.",
        "The driver's count exceeds the profile by more than 1.5 times the reference's difference plus "
        "twice the count's resolution plus 40 % of the activity.",
        "Do not hide launches from the profiler. Honest with very many short kernels, or if another "
        "program used the device.",
    ),
    "below_roofline": FlagRule(
        "The time is shorter than the hardware allows.",
        "The time is below 0.9 of the least time for the declared work at the device's measured peaks.",
        "Compute everything that the problem asks for. Honest if the problem declares its work or "
        "`flops_dtype` wrongly: tell the organiser.",
    ),
    "below_bandwidth": FlagRule(
        "The time is too short to move the inputs and outputs.",
        "The time is below a fourth of what the compulsory bytes need at the device's measured bandwidth.",
        "Compute everything in each timed call. Honest if the problem declares `bytes` wrongly, or if its "
        "harness copies data that no timed call needs. Honest, too, on a GPU whose L2 cache is more than "
        "four times as fast as its DRAM, if all data fit into it and the problem declares no "
        "`working_set_bytes`. Tell the organiser.",
    ),
    "throttled": FlagRule(
        "The GPU was slowed by heat, power brake or hardware in all attempts.",
        "The driver reported it in the first measurement and in all three repeats.",
        "Rerun the sample. The time is real but not comparable.",
    ),
    "busy_host": FlagRule(
        "Other programs lengthened the time, or the reference's, in all attempts.",
        "CPU tracks, clock of the supervisor or of a function's checker: the run (`ranked`: the median run of one "
        "side) lost more than 5 % of its wall time to others, to other virtual machines, or to a stop of the machine.",
        "Rerun the sample on a machine that does nothing else.",
    ),
    "busy_device": FlagRule(
        "The GPU did other work right before calls of a function, perhaps a kernel of the solution that began too "
        "early.",
        "GPU function problems: before more than one call in ten the checker's own work took over 5 % and 60 µs longer "
        "than calibrated. Those calls are not timed.",
        "Do all work within the call, and leave no kernel running. Honest if another program used the "
        "device: rerun the sample.",
    ),
    "late_copies": FlagRule(
        "A function's outputs were complete later than its time says.",
        "GPU function problems: in one case, in at least a third of the processes, the checker's copies ended later "
        "than a known solution's by more than 2 % of the time, a tenth of the copies' own time and 10 µs.",
        "Join all work to the stream of the call. Honest if another program used the device: rerun the sample.",
    ),
    "other_events": FlagRule(
        "A function's time by the device's own events differs from the checker's clock.",
        "Results of before: in one case, in at least a third of the processes, they differ by more than for a "
        "known solution of the same size, plus three times the spread there, 5 % of the time and 0.05 ms. Medians are "
        "compared where the clock shows less. Where it shows more, its first decile counts, since other programs "
        "lengthen calls.",
        "Do not touch events that are not yours. Honest if another program used the device: rerun the sample.",
    ),
    "many_sets_disagree": FlagRule(
        "A function is faster among several input sets than one set bears out.",
        "Function problems: in one case `one_set_ms` (under `ranked` the least of the processes) is more "
        "than 1.5 times the time, plus the spread between the quartiles of calibrated goes of one set.",
        "Work on one input set at each call. Honest if other programs used the machine, or if a first "
        "call after a pause is slow: rerun the sample.",
    ),
    "outputs_not_written": FlagRule(
        "The timed part wrote less than the outputs hold.",
        "`ranked` only: counted writes to the L2 cache are below 0.9 of the declared `output_bytes`, or "
        "below a fourth of the outputs that the harness's copies show.",
        "Write the outputs in each timed call. Honest if most of a copied buffer is never written, or is "
        "filled by `cudaMemset` in a benchmark that times kernels only.",
    ),
    "fails_counted": FlagRule(
        "The benchmark fails only when its writes are counted.",
        "`ranked` only: the reference could be counted on the node, and the solution could not: it failed "
        "under `ncu`, took more than 300 s, or left no usable counts.",
        "Do not detect the profiler. Honest with very many launches, with kernels that wait for each "
        "other, or with a child made by fork.",
    ),
    "slower_counted": FlagRule(
        "The kernels work longer when their writes are counted.",
        "`ranked` only: the timed kernels take more than 3 times as long under the counters, plus 0.01 ms "
        "for each launch.",
        "Do not detect the profiler. Honest if the kernels' work differs from run to run.",
    ),
    "benchmark_failed": FlagRule(
        "There is no time.",
        "The benchmark failed or printed no time, or its profiler failed by itself.",
        "Run the benchmark command yourself. If the profiler failed, rerun the sample.",
    ),
    "left_early": FlagRule(
        "The benchmark ended with status 0 before its harness ended.",
        "The witness of a timed run is `contradicted`. If the reference does the same, the witness is "
        "`unavailable` instead.",
        "Do not call `exit` in the solution.",
    ),
    "context_changed": FlagRule(
        "The solution changed a context file that the tests include, import or run, directly or not, or "
        "that the commands read, such as a Makefile. The flag is of the verdict: the result does not "
        "count until an organiser has looked.",
        "The file's text differs from the problem's in more than blanks at the ends of lines. The "
        "reference does not change the file, and contestants do not start from it (`starter`).",
        "Leave the file out, or send it unchanged. Honest if the change does not touch what the tests compare.",
    ),
    "unclear_end": FlagRule(
        "The program ended with status 0 by a call that may be the harness's or the solution's, because "
        "both are compiled together and the solution names such a call. The flag is of the verdict: the "
        "result does not count until an organiser has looked.",
        "The harness never returned from `main`, and the problem's reference does not return from it either.",
        "Do not name `exit`, `_exit` or `exec` in code that the test includes, except as `exit(1)` or "
        "`exit(EXIT_FAILURE)`. Honest if the call is never reached.",
    ),
    "judged_otherwise": FlagRule(
        "Another node judged the sample again, and its verdict differs, or its time by over a quarter.",
        "The sample was judged by a node that joined with a token; a share of such results is judged twice.",
        "None of yours: an organiser looks at both nodes.",
    ),
    "failed_second_run": FlagRule(
        "The sample passed, and its second measurement in a round failed. The flag is of the verdict: the pass does "
        "not count until an organiser has looked.",
        "A round ran the sample again, a function on new secret inputs, and it did not pass. The first verdict stays.",
        "Make the solution right for every input and free of races. Honest if the failure is the machine's.",
    ),
    "no_provenance": FlagRule(
        "An imported file does not say where the time was measured.",
        "Rows of ComputeEval's evaluator without Podium's provenance.",
        "Grade with `podium evaluate`, or submit.",
    ),
}


def rule_of(code: str) -> FlagRule | None:
    """The rule of a code; None for one that this version does not know, such as that of an older node."""
    return FLAG_RULES.get(code)
