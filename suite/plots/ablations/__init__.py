"""The figures of the ablations, one module each; `make ablations` draws them."""
