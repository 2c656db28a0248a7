"""Classical baselines, which POWR is compared with besides deep networks.

For finite observations: `rmax`, `dyna_q`, `optimistic_q`, `psrl`. For observations in a bounded
box: `sarsa_lambda`, `lspi`, `cme_value_iteration`. For any: `random_play`. All share one interface:

- `Baseline(env, *, seed, **constants)`: env is a gymnasium.Env with Discrete actions. Constants
  that were tuned (results/tuning) have no default. An unsuitable environment or constant raises a
  ValueError that says what is accepted.
- `learn(timesteps, callback=None)`: takes exactly that many more steps and returns the agent. The
  callback is called with the agent after every step; training stops if it returns False.
- `num_timesteps`: steps taken so far.
- `predict(observations, deterministic=True)`: the greedy actions and None, for one observation or a
  batch; sampled from `action_probabilities` if not deterministic.
- `action_probabilities(observations)`: the policy that collects the data, (n, n_actions).
- `action_values(observations)`: the estimates behind that policy, (n, n_actions).

>>> import gymnasium
>>> from baselines.classical.rmax import RMax
>>> env = gymnasium.make("FrozenLake-v1", is_slippery=False)
>>> agent = RMax(env, seed=0, v_max=1.0, known_after=1, gamma=0.99).learn(200)
>>> agent.predict([0, 4, 8])
(array([1, 1, 2]), None)
"""
