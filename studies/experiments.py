"""Experiments that others have published: their games, as far as described, and their claims.

A claim is a number or only the shape of a curve; `studies.published` plays the games and compares
the results with the claims.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from belated.checks import MOST_ROUNDS, as_count
from belated.comparison.contenders import Contender
from belated.environments.delays import HalfNormal
from belated.environments.environment import Environment
from belated.environments.losses import Bernoulli
from belated.environments.scenarios import scenario
from belated.specs import listed, named_options

Measure = Literal["ratio", "exponent"]

MEAN_DELAYS = (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)
SPREAD = 10.0  # a standard deviation, that is a variance of 100
LAW_INDEX, LAW_LENGTH, WINDOW = 0.7, 2**12, 50
FEWEST_ROUNDS = 100


@dataclass(frozen=True)
class Claim:
    """A learner with the text and the number that were published about it, if there are any."""

    learner: str
    published: str = ""
    value: float | None = None


class Trial(NamedTuple):
    """A game with its contenders, in the order of the claims, and its mean delay if that varies."""

    environment: Environment
    contenders: tuple[Contender, ...]
    mean_delay: float | None = None


@dataclass(frozen=True)
class Experiment:
    """One published experiment; `games` is the number of games that one repetition plays.

    The regret of a play is the gap of its arm. Ratios are to the regret of the first trial, and an
    exponent is that of the only trial.
    """

    name: str
    title: str
    source: str
    measure: Measure
    claims: tuple[Claim, ...]
    gaps: tuple[float, ...]
    trials: tuple[Trial, ...]
    games: int


def mean_delay(rounds: int = 250_000) -> Experiment:
    """Regret against the mean delay, for rewards that arrive as a sum without the names of arms.

    At mu = 0 the folded distribution has another mean and variance than the normal one, and we do
    not know which of them ODAAF was told. So it plays twice: told mu and sigma^2, and told the true
    mean and variance.
    """
    return Experiment(
        name="mean-delay",
        title="regret against the mean delay",
        source="Pike-Burke, Agrawal, Szepesvári and Grünewälder 2018, appendix E.1",
        measure="ratio",
        claims=(
            Claim("QPM-D", "about 1.05", 1.05),
            Claim("ODAAF-V, told mu, sigma^2", "about 1.2", 1.2),
            Claim("ODAAF-V, told true moments", "about 1.2", 1.2),
            Claim("ODAAF, told mu", "about 4", 4.0),
            Claim("ODAAF, told true mean", "about 4", 4.0),
        ),
        gaps=(0.1, 0.0),
        trials=tuple(_mean_delay_trial(mean, rounds) for mean in MEAN_DELAYS),
        games=10,
    )


def _mean_delay_trial(mean: float, rounds: int) -> Trial:
    normal = {"mean_delay": mean, "delay_variance": SPREAD**2}
    folded = {"delay_variance": folded_variance(mean, SPREAD)}  # the mean comes from the game
    contenders = (
        Contender("qpm-d"),
        Contender("odaaf", {"form": "variance", **normal}),
        Contender("odaaf", {"form": "variance", **folded}),
        Contender("odaaf", {"form": "mean", "mean_delay": mean}),
        Contender("odaaf", {"form": "mean"}),
    )
    delays = HalfNormal(mean, SPREAD)
    game = Environment(f"mean-delay:{mean:g}", Bernoulli([0.5, 0.4]), delays, rounds)
    return Trial(game, contenders, mean)


def folded_variance(mean: float, spread: float) -> float:
    """Return the variance of |mean + spread z| for a standard normal z."""
    ratio = mean / (spread * math.sqrt(2.0))
    folded = spread * math.sqrt(2.0 / math.pi) * math.exp(-(ratio**2)) + mean * math.erf(ratio)
    return mean**2 + spread**2 - folded**2


def heavy_tails(rounds: int = 100_000) -> Experiment:
    """Delays with heavy tails: learners assume the tail 0.7, but the better arm's is heavier.

    We do not know the window of D-UCB: 50 was a good one in the experiment before this.
    """
    law = tuple(1.0 - (x + 2.0) ** -LAW_INDEX for x in range(LAW_LENGTH))
    contenders = (
        Contender("d-ucb", {"delay_law": law, "censor": WINDOW}),
        Contender("d-ucb", {"delay_law": law}),
        Contender("patient-bandits", {"tail_index": 0.3}),
        Contender("delayed-ucb1"),
    )
    return Experiment(
        name="heavy-tails",
        title="a wrong law of heavy tails",
        source="Gael, Vernade, Carpentier and Valko 2020, figure 5",
        measure="exponent",
        claims=(
            Claim(f"D-UCB, window {WINDOW}", "linear"),
            Claim("D-UCB, no window"),
            Claim("PatientBandits", "sublinear"),
            Claim("Delayed-UCB1"),
        ),
        gaps=(0.2, 0.0),
        trials=(Trial(scenario("heavy-tails", rounds=rounds), contenders),),
        games=5,
    )


def constrained_adversary(rounds: int = 100_000) -> Experiment:
    """Losses with a fixed gap but means that jump in ever longer phases, without any delay."""
    names = ("delayed-ucb1", "thompson", "tsallis-inf")
    game = scenario("constrained-adversary", rounds=rounds)
    return Experiment(
        name="constrained-adversary",
        title="jumping means",
        source="Zimmert and Seldin 2019, figure 1b",
        measure="exponent",
        claims=(
            Claim("UCB1", "near-linear"),
            Claim("Thompson sampling", "near-linear"),
            Claim("Tsallis-INF", "logarithmic"),
        ),
        gaps=(*[0.125] * 7, 0.0),
        trials=(Trial(game, tuple(map(Contender, names))),),
        games=2,
    )


EXPERIMENTS: dict[str, Callable[..., Experiment]] = {
    "mean-delay": mean_delay,
    "heavy-tails": heavy_tails,
    "constrained-adversary": constrained_adversary,
}


def experiment_named(text: str) -> Experiment:
    """Make an experiment of text such as "heavy-tails" or "heavy-tails:rounds=1000000"."""
    name, options = named_options(text)
    if name not in EXPERIMENTS:
        raise ValueError(f"experiment is {name!r}; it must be one of {listed(EXPERIMENTS, name)}")
    for option in options:
        if option != "rounds":
            raise ValueError(f"{name} has no option {option!r}; it has rounds")
    rounds = {key: as_count(n, key, FEWEST_ROUNDS, MOST_ROUNDS) for key, n in options.items()}
    return EXPERIMENTS[name](**rounds)
