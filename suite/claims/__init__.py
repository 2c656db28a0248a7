"""What the paper claims, and the verdict on each claim with its evidence."""
