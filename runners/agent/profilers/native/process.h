// The life of one recorded process: its recorder, and the files in which it leaves what it recorded.
#pragma once

#include "activity.h"
#include "gate.h"
#include "recorder.h"

namespace podium {

Nanoseconds clock_now();
Moment now();
ThreadId this_thread();

// The recorder of this process; null where nobody asked for one and after the last words were written. A child of `fork`
// gets one of its own.
Recorder* recorder();

// Where this process waits for its device; lets everything pass where nobody keeps a gate.
Gate& gate();

// From both injection entry points, as often as they are called.
void begin_recording();

// Leaves the mark by which a process that dies without its last words is known, and starts to write in between:
// called once the process has a context on a device. `flush` makes CUPTI hand over what is complete.
void note_device_use(void (*flush)());

// Runs `last_flush` and then writes the final notes when the process exits.
void finish_at_exit(void (*last_flush)());

}  // namespace podium
