from bisect import insort


def window_medians(values, width):
    window, medians = [], []
    for value in values:
        insort(window, value)
        if len(window) > width:
            window.pop(0)
        if len(window) == width:
            medians.append(window[(width - 1) // 2])
    return medians
