// One recorded process: its recorder and the files that it writes.
#pragma once

#include "activity.h"
#include "gate.h"
#include "recorder.h"

namespace podium {

Nanoseconds clock_now();
Moment now();
ThreadId this_thread();

// The recorder of this process. Null if recording was not requested, or after the final notes were written. A child of
// `fork` gets its own recorder.
Recorder* recorder();

// The gate at which this process waits for its device. Without a gate file every call passes.
Gate& gate();

// Called by both injection entry points. Only the first call in a process has an effect.
void begin_recording();

// Called when the process makes a context on a device. The first call writes the file `.begun`, by which the reader
// recognises a process that dies without final notes, and starts the thread that writes intermediate notes. `flush` makes
// CUPTI deliver its complete records.
void note_device_use(void (*flush)());

// Runs `last_flush` and then writes the final notes when the process exits.
void finish_at_exit(void (*last_flush)());

}  // namespace podium
