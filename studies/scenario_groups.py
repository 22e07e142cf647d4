"""Groups of scenarios on which the practical learners are judged: tuned-on, held-out and hostile.

The groups were fixed before anything was played on the second and the third. Among the held-out
scenarios, slow arms are good in as many as they are bad.
"""

from collections.abc import Iterator

from belated.comparison.contenders import Contender, contender
from belated.environments.environment import Environment
from belated.environments.environment_specs import environment_named
from belated.learners.registry import registered
from studies.study import NOTHING, TOLD, StudyLearner

TUNED_ON = (
    "late-best",
    "late-worst",
    "packet-loss",
    "mixed-delays",
    "first-order",
    "which-learner",
    "limit-orders-falling",
    "drifting",
    "heavy-tails",
    "unbalanced",
    "switching",
)
HELD_OUT = (
    "network-width",
    "limit-orders",
    "ads",
    "late-best:gap=0.02,delay=500,arms=10",
    "packet-loss:chance=0.4,delay=50",
    "limit-orders-falling:ticker=AAPL,start=2007-12-27,end=2009-01-20",
    "limit-orders-falling:ticker=GOOG,start=2007-11-06,end=2008-11-20",
    "late-worst:gap=0.1,delay=1000,arms=8",
    "late-worst:gap=0.4,delay=100,arms=20",
    "switching:slow_good=0,gap=0.3,delay=300",
    "clinical-trial",
    "mixed-delays:arms=12,slowest=1000,shuffle=2",
    "drifting:arms=10,step=0.005,delay=300",
    "growing-late",
    "constrained-adversary:rounds=20000,delay=50",
)
HOSTILE = (
    "block-constant:rounds=10000,delay=99",
    "rotating-leaders",
    "rotating-leaders:length=100",
    "rotating-leaders:length=1000",
    "reversing",
    "reversing:gap=0.5",
    "reversing:delay=1000",
    "late-silence",
)
GROUPS: dict[str, tuple[str, ...]] = {
    "tuned-on": TUNED_ON,
    "held-out": HELD_OUT,
    "hostile": HOSTILE,
}
WITHOUT = (
    "practical-experts:imputes=0",
    "practical-experts:bold=1",
    "practical-experts:tracks=0",
)


def games_of(group: str) -> list[Environment]:
    """Return the scenarios of a group."""
    if group not in GROUPS:
        raise ValueError(f"group is {group!r}; it must be one of {', '.join(GROUPS)}")
    return [environment_named(text) for text in GROUPS[group]]


def judged() -> list[StudyLearner]:
    """Return all learners with default options, and practical experts without each single part.

    What each part of the practical bandit is worth, `judge` finds out on random worlds.
    """
    return list(_judged())


def _judged() -> Iterator[StudyLearner]:
    for kind in registered().values():
        yield StudyLearner(Contender(kind.name), kind, TOLD if kind.needs else NOTHING)
        if kind.name in ("concealed", "full-information"):
            yield StudyLearner(Contender(kind.name, {"variant": "repaired"}), kind, TOLD)
    for text in WITHOUT:
        chosen = contender(text)
        yield StudyLearner(chosen, registered()[chosen.name], NOTHING)
