"""Algorithm 1 and its kernels as printed, entry by entry: timed here, the judge in tests."""
