// Sees, from outside the contestant's processes, whether the harness's own code reached its end.
//
// A program under the workspace must come back from `main` with 0, or call `exit(0)` out of `main`, before it may end
// with status 0. A Python script started by the launcher must announce its end with a signal. Whatever ends with 0
// in another way (a constructor's `_exit(0)`, a solution's `exit(0)`, an exec of /bin/true) contradicts its own claim.
#pragma once

#include "orders.h"

#include <sys/types.h>

class Witness {
public:
    Witness(const Orders& orders, std::string workspace, int end_signal);
    ~Witness();
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;

    // `child` waits for its start; from here on it and all it starts stop for the witness.
    bool seize(pid_t child);
    void on_stop(pid_t task, int status);
    void on_end(pid_t task, int status);

    const char* verdict() const;
    std::string detail() const;

private:
    class Watch;
    Watch* const watch_;
};
