"""Two coffee machines, the better of which is rated late."""

from belated.environments.delays import PerArm
from belated.environments.losses import Bernoulli
from belated.environments.scenarios import Parts, scenario_named


@scenario_named(
    "coffee-bar",
    shows="Guests who like their coffee stay and rate it late; those who do not tell it at once.",
)
def coffee_bar(rounds: int = 5000, wait: int = 40) -> Parts:
    """The loss is 1 for a bad rating; of the filter machine ratings come `wait` cups later."""
    return Parts(
        losses=Bernoulli([0.3, 0.5]),
        delays=PerArm([wait, 0]),
        rounds=rounds,
        labels=("filter", "espresso"),
    )
