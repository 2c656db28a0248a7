"""What is drawn of an agent: value, policy and visits."""

from typing import Any

from numpy.typing import NDArray

from powr.agent import Agent

QUANTITIES = {
    "value": "Value: expected discounted return",
    "policy": "Policy: most probable action",
    "visits": "Visits: steps taken from a state",
}
COLOURS = {"value": "viridis", "visits": "Blues"}


def value_and_policy(agent: Agent, observations: Any) -> tuple[NDArray, NDArray]:
    """The value of the policy, (n,), and its action probabilities, (n, n_actions)."""
    probabilities = agent.action_probabilities(observations)
    return (probabilities * agent.action_values(observations)).sum(axis=1), probabilities
