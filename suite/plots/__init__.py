"""One module per figure; each reads tables only."""
