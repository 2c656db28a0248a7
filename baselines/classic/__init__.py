"""Textbook peers, one module per algorithm, that POWR is compared with besides deep networks.

For finite observations: `rmax`, `dyna_q`, `optimistic_q`, `psrl`. For observations in a bounded
box: `sarsa_lambda`, `lspi`, `cme_value_iteration`. For any: `random_play`. Each module has one
public class, and all share one interface:

- `Peer(env, *, seed, **constants)`: env is a gymnasium.Env with Discrete actions. Constants that
  were tuned (results/tuning) have no default. An unsuitable environment or constant raises a
  ValueError that says what is accepted.
- `learn(timesteps, callback=None)`: takes exactly that many more steps and returns the peer. The
  callback is called with the peer after every step; training stops if it returns False.
- `num_timesteps`: steps taken so far.
- `predict(observations, deterministic=True)`: the greedy actions and None, for one observation or a
  batch; sampled from `action_probabilities` if not deterministic.
- `action_probabilities(observations)`: the policy that collects the data, (n, n_actions).
- `action_values(observations)`: the estimates behind that policy, (n, n_actions).

>>> import gymnasium
>>> from baselines.classic.rmax import RMax
>>> env = gymnasium.make("FrozenLake-v1", is_slippery=False)
>>> peer = RMax(env, seed=0, v_max=1.0, known_after=1, gamma=0.99).learn(200)
>>> peer.predict([0, 4, 8])
(array([1, 1, 2]), None)
"""
