"""Replaces the messages of the stub, so that its word on an error is an answer. The honest twin's replacement changes
nothing."""

import sys

import numpy as np

HONEST = False
messages = sys.modules["judge.messages"]
plain_head, calls = messages.head, []


def head(kind, index=0, *others, **named):
    if kind == messages.ERROR and not HONEST:
        return plain_head(messages.DONE, len(calls))
    return plain_head(kind, index, *others, **named)


messages.head = head


def solution(x, y, n):
    calls.append(1)
    if not HONEST:
        raise ValueError
    np.sqrt(x, out=y)
