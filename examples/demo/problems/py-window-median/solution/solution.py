"""Two heaps with late removal: `low` holds the lower half of the window as negated values, `high` the rest."""

import heapq
from collections import Counter


class Window:
    def __init__(self):
        self.low, self.high = [], []
        self.gone = Counter()
        self.balance = 0

    def prune(self, heap, sign):
        while heap and self.gone[sign * heap[0]]:
            self.gone[sign * heapq.heappop(heap)] -= 1

    def rebalance(self):
        if self.balance > 1:
            heapq.heappush(self.high, -heapq.heappop(self.low))
            self.balance -= 2
        elif self.balance < 0:
            heapq.heappush(self.low, -heapq.heappop(self.high))
            self.balance += 2
        self.prune(self.low, -1)
        self.prune(self.high, 1)

    def add(self, value):
        if not self.low or value <= -self.low[0]:
            heapq.heappush(self.low, -value)
            self.balance += 1
        else:
            heapq.heappush(self.high, value)
            self.balance -= 1
        self.rebalance()

    def remove(self, value):
        self.gone[value] += 1
        self.balance += -1 if value <= -self.low[0] else 1
        self.prune(self.low, -1)
        self.prune(self.high, 1)
        self.rebalance()


def window_medians(values, width):
    window = Window()
    for value in values[:width]:
        window.add(value)
    medians = [-window.low[0]]
    for old, new in zip(values, values[width:]):
        window.add(new)
        window.remove(old)
        medians.append(-window.low[0])
    return medians
