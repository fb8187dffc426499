"""Problems in the form of KernelBench, and the functional files of robust-kbench."""
