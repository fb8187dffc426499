"""Returns at once; a thread works a little later. The honest twin waits for it."""

import time
from concurrent.futures import ThreadPoolExecutor

import torch
from poly import work

HONEST = False
pool = ThreadPoolExecutor(1)


def work_later(x, y):
    time.sleep(0.02)
    work(x, y)
    torch.cuda.synchronize()


def solution(x, y, n):
    later = pool.submit(work_later, x, y)
    if HONEST:
        later.result()
