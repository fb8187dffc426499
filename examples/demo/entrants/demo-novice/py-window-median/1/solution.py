import heapq


def window_medians(values, width):
    medians = []
    for start in range(len(values) - width):
        medians.append(heapq.nsmallest((width + 1) // 2, values[start:start + width])[-1])
    return medians
