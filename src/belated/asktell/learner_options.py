"""The learner that a name stands for, and its options: checked, complete, and ready for JSON."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from belated.asktell.options import DOUBLING, as_bound, as_horizon
from belated.checks import as_count, as_names, as_weights, in_order
from belated.learners.contract import Learner
from belated.learners.registry import check_options, learner_named, option_names
from belated.types import Arm, Need, Setting

COIN = 1  # which branch of the seed learners with random choices of their own get


def kind_named(name: str, bandit: bool) -> type[Learner]:
    """The registered learner of this name; an error if it is not of the kind that is wanted."""
    if not isinstance(name, str):
        raise ValueError(f"learner is {name!r}; it must be the name of a learner")
    kind = learner_named(name)
    if bandit and kind.setting is Setting.FULL_INFORMATION:
        raise ValueError(
            f"learner is {name!r}, which is told the losses of all arms; "
            "a Bandit is told one a round, so use belated.Experts"
        )
    if not bandit and kind.setting is not Setting.FULL_INFORMATION:
        raise ValueError(
            f"learner is {name!r}, a bandit, which is told one loss a round; use belated.Bandit"
        )
    return kind


def plain_options(
    kind: type[Learner], arms: tuple[Arm, ...], given: Mapping[str, Any], seed: int | None
) -> dict[str, Any]:
    """The options of a learner as JSON can hold them, checked, and with defaults filled in."""
    check_options(kind, given)
    options, known, needs = dict(given), option_names(kind), kind.needs_with(given)
    for name, default in ((Need.HORIZON, DOUBLING), (Need.MAX_MISSING, None)):
        if name in needs:
            options.setdefault(name.value, default)
    lacking = [need.value for need in needs if need.value in known and need.value not in options]
    if lacking:
        raise ValueError(
            f"{kind.name} must know {' and '.join(lacking)}; "
            f"give {' and '.join(f'{name}=' for name in lacking)} when you make it"
        )
    if "horizon" in options:
        options["horizon"] = as_horizon(options["horizon"])
    if "max_missing" in options:
        options["max_missing"] = as_bound(options["max_missing"])
    weighed = arms
    if options.get("policies") is not None:
        weighed = options["policies"] = as_names(options["policies"], "policies")
    if "prior" in options:
        options["prior"] = as_weights(options["prior"], weighed)
    if "seed" in known:
        options["seed"] = coin_seed(seed)
    return {name: plain(value) for name, value in options.items()}


def may_declare_silence(kind: type[Learner]) -> bool:
    """Whether a learner can be told what a play that never reports has lost, as `default_loss`."""
    return "default_loss" in option_names(kind)


def plain(value: Any) -> Any:
    """A value as JSON has it: numpy's numbers as Python's, arrays and sequences as lists."""
    if isinstance(value, np.generic):
        return value.item()
    values = in_order(value)
    return value if values is None else [plain(each) for each in values]


def coin_seed(seed: int | None) -> int:
    """A seed for the random choices of a learner itself, independent of the draws of arms."""
    entropy = None if seed is None else as_count(seed, "seed", 0)
    sequence = np.random.SeedSequence(entropy, spawn_key=(COIN,))
    return int(sequence.generate_state(1)[0])


def learner_in_epoch(
    kind: type[Learner], arms: int, options: Mapping[str, Any], epoch: int
) -> Learner:
    """The learner that runs in an epoch: with horizon="doubling" its horizon is 2^epoch.

    A max_missing that is not promised starts at 1; the session doubles it when it is exceeded.
    """
    given = dict(options)
    if given.get("horizon") == DOUBLING:
        given["horizon"] = 2**epoch
    if given.get("max_missing", 0) is None:
        given["max_missing"] = 1
    return kind(arms=arms, **given)
