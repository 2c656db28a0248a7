"""Speed, growth and sample efficiency of the solver, each by a command of its own."""

import os

# One thread. Set before numpy is imported, since BLAS reads it then.
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
