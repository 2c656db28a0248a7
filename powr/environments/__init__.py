"""Gymnasium's side of an agent: spaces, episodes, and an environment whose answers are checked."""
