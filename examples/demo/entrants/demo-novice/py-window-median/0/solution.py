def window_medians(values, width):
    medians = []
    for start in range(len(values) - width + 1):
        medians.append(sorted(values[start:start + width])[(width - 1) // 2])
    return medians
