"""Two heaps of (value, index); entries that have left the window are dropped when they surface."""

from heapq import heappop, heappush


def window_medians(values, width):
    low, high, medians = [], [], []
    lower_size = (width + 1) // 2
    in_low = [False] * len(values)
    count = 0
    for index, value in enumerate(values):
        if index >= width and in_low[index - width]:
            count -= 1
        if low and value <= -low[0][0]:
            heappush(low, (-value, index))
            in_low[index] = True
            count += 1
        else:
            heappush(high, (value, index))
        wanted = min(lower_size, index + 1)
        while count < wanted:
            value_up, place = heappop(high)
            if place > index - width:
                heappush(low, (-value_up, place))
                in_low[place] = True
                count += 1
        while count > wanted or low[0][1] <= index - width:
            value_down, place = heappop(low)
            if place > index - width:
                heappush(high, (-value_down, place))
                in_low[place] = False
                count -= 1
        if index >= width - 1:
            medians.append(-low[0][0])
    return medians
