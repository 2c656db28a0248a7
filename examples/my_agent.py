"""Q-learning, an algorithm of one's own: examples/my_study.yaml sets it beside the shipped ones."""

import numpy as np


class QLearning:
    def __init__(self, env, *, seed, step_size=0.5, epsilon=0.1, gamma=0.99):
        self.env, self.rng = env, np.random.default_rng(seed)
        self.step_size, self.epsilon, self.gamma = step_size, epsilon, gamma
        self.q = np.ones((env.observation_space.n, env.action_space.n))  # optimistic
        self.num_timesteps = 0

    def learn(self, timesteps, callback):
        state, _ = self.env.reset(seed=int(self.rng.integers(2**31)))
        while self.num_timesteps < timesteps:
            explores = self.rng.random() < self.epsilon
            action = int(self.rng.integers(self.q.shape[1]) if explores else self.q[state].argmax())
            following, reward, terminated, truncated, _ = self.env.step(action)
            target = reward + self.gamma * (not terminated) * self.q[following].max()
            self.q[state, action] += self.step_size * (target - self.q[state, action])
            state = self.env.reset()[0] if terminated or truncated else following
            self.num_timesteps += 1
            if callback(self) is False:  # evaluates the agent; False means stop
                break
        return self

    def predict(self, observations, deterministic=True):
        return self.q[np.asarray(observations)].argmax(axis=-1), None
