"""Two heaps with counts of the values that have left."""

import heapq
from collections import defaultdict


def clean(heap, sign, gone):
    while heap and gone[sign * heap[0]] > 0:
        gone[sign * heap[0]] -= 1
        heapq.heappop(heap)


def window_medians(values, width):
    low, high, gone, medians = [], [], defaultdict(int), []
    for value in sorted(values[:width]):
        heapq.heappush(high, value)
    for _ in range((width + 1) // 2):
        heapq.heappush(low, -heapq.heappop(high))
    medians.append(-low[0])
    for old, new in zip(values, values[width:]):
        balance = -1 if old <= -low[0] else 1
        gone[old] += 1
        if new <= -low[0]:
            heapq.heappush(low, -new)
            balance += 1
        else:
            heapq.heappush(high, new)
            balance -= 1
        if balance < 0:
            clean(high, 1, gone)
            heapq.heappush(low, -heapq.heappop(high))
        elif balance > 0:
            clean(low, -1, gone)
            heapq.heappush(high, -heapq.heappop(low))
        clean(low, -1, gone)
        clean(high, 1, gone)
        medians.append(-low[0])
    return medians
