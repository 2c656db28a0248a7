"""What the runs say about each sentence of the paper: cells, and the verdicts that follow."""
