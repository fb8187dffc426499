"""A bottom-up segment tree of maxima over value ranks."""


def longest_increasing(values):
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)))}
    size = max(1, len(ranks))
    tree = [0] * (2 * size)

    def longest_below(rank):
        best, left, right = 0, size, size + rank
        while left < right:
            if left & 1:
                best = max(best, tree[left])
                left += 1
            if right & 1:
                right -= 1
                best = max(best, tree[right])
            left >>= 1
            right >>= 1
        return best

    for value in values:
        length, node = longest_below(ranks[value]) + 1, size + ranks[value]
        while node and tree[node] < length:
            tree[node] = length
            node >>= 1
    return max(tree)
