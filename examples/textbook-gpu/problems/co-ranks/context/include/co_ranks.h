// The function to implement.
#pragma once

// from_a[q] = how many of the first ranks[q] elements of the stable merge of a and b (ties: a first) come from a.
void co_ranks(const int* a, int a_count, const int* b, int b_count, const int* ranks, int rank_count, int* from_a);
