"""The figures of the studies, one module each; `make studies` draws them beside."""
