"""The tables made of many run files, and the statistics in them."""
