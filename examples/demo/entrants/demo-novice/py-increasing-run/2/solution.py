"""Takes every value larger than the last one taken."""


def longest_increasing(values):
    taken = []
    for value in values:
        if not taken or value > taken[-1]:
            taken.append(value)
    return len(taken)
