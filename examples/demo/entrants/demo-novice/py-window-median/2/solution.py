import heapq


def window_medians(values, width):
    medians = []
    for start in range(len(values) - width + 1):
        window = values[start:start + width]
        heapq.heapify(window)
        medians.append(window[(width - 1) // 2])
    return medians
