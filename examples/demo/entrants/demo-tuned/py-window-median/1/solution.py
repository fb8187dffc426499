"""A sorted window that stays as it is when the value that leaves equals the one that enters."""

import bisect


def window_medians(values, width):
    find, insert = bisect.bisect_left, bisect.insort_right
    window, middle = sorted(values[:width]), (width - 1) // 2
    medians = [window[middle]]
    for start in range(len(values) - width):
        old, new = values[start], values[start + width]
        if old != new:
            window.pop(find(window, old))
            insert(window, new)
        medians.append(window[middle])
    return medians
