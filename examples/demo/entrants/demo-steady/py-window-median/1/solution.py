"""A sorted window kept with insort; the leaving value is found with bisect."""

import bisect


class SortedWindow:
    def __init__(self, values):
        self.values = sorted(values)

    def median(self):
        return self.values[(len(self.values) - 1) // 2]

    def swap(self, leaving, entering):
        place = bisect.bisect_left(self.values, leaving)
        self.values.pop(place)
        bisect.insort(self.values, entering)


def window_medians(values, width):
    window = SortedWindow(values[:width])
    medians = [window.median()]
    for step in range(width, len(values)):
        window.swap(values[step - width], values[step])
        medians.append(window.median())
    return medians
