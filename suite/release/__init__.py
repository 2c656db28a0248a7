"""What is shipped with the repository, and the proof that it follows from the run files."""
