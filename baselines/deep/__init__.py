"""Policy-gradient methods and deep Q-learning, from stable-baselines3 and sb3-contrib."""
