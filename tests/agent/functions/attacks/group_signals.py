"""Sends signals to its parent, its group and all others, and ignores them itself. The honest twin sends itself one."""

import os
import signal

import numpy as np

HONEST = False
SENT = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGQUIT, signal.SIGALRM)
for one in SENT:
    signal.signal(one, lambda *_: None)


def solution(x, y, n):
    if HONEST:
        os.kill(os.getpid(), signal.SIGUSR1)
        np.sqrt(x, out=y)
        return
    for one in SENT:
        for target in (os.getppid(), 1, 0, -1, -os.getppid()):
            try:
                os.kill(target, one)
            except OSError:
                continue
