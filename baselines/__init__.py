"""The paper's baselines, from Stable-Baselines3 and sb3-contrib with the libraries' defaults."""
