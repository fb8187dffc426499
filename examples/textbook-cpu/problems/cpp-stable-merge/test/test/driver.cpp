// Makes the harness's calls of stable_merge.
#include "driver.h"

// Repeated from the context on purpose: the driver includes nothing that a solution may replace.
void stable_merge(const int* a_keys, const int* a_items, int a_count, const int* b_keys, const int* b_items, int b_count,
                  int* keys, int* items);

int main() { return textbook::serve(stable_merge); }
