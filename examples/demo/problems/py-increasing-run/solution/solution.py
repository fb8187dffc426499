"""A Fenwick tree over the ranks of the values holds, for each prefix of ranks, the longest subsequence that ends there."""


def longest_up_to(tree, rank):
    longest = 0
    while rank > 0:
        longest = max(longest, tree[rank])
        rank -= rank & -rank
    return longest


def record(tree, rank, length):
    while rank < len(tree):
        tree[rank] = max(tree[rank], length)
        rank += rank & -rank


def longest_increasing(values):
    ranks = {value: rank for rank, value in enumerate(sorted(set(values)), start=1)}
    tree = [0] * (len(ranks) + 1)
    for value in values:
        rank = ranks[value]
        record(tree, rank, longest_up_to(tree, rank - 1) + 1)
    return longest_up_to(tree, len(ranks))
