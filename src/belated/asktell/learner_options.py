"""Which registered learner is meant by a name, and its options: checked, complete and plain."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from belated.asktell.options import DOUBLING, as_bound, as_horizon
from belated.checks import as_count, as_weights, in_order
from belated.learners.contract import Learner
from belated.learners.registry import check_options, learner_named, option_names
from belated.types import Arm, Need, Setting

COIN = 1  # the branch of the seed that learners with coins of their own get


def kind_named(name: str, bandit: bool) -> type[Learner]:
    """A registered learner that is a bandit, or is not."""
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
    """The options of a learner, checked, complete, and such that JSON can hold them."""
    check_options(kind, given)
    options, known = dict(given), option_names(kind)
    for name, default in ((Need.HORIZON, DOUBLING), (Need.MAX_MISSING, None)):
        if name in kind.needs:
            options.setdefault(name.value, default)
    lacking = [
        need.value for need in kind.needs if need.value in known and need.value not in options
    ]
    if lacking:
        raise ValueError(
            f"{kind.name} must know {' and '.join(lacking)}; "
            f"give {' and '.join(f'{name}=' for name in lacking)} when you make it"
        )
    if "horizon" in options:
        options["horizon"] = as_horizon(options["horizon"])
    if "max_missing" in options:
        options["max_missing"] = as_bound(options["max_missing"])
    if "prior" in options:
        options["prior"] = as_weights(options["prior"], arms)
    if "seed" in known:
        options["seed"] = coin_seed(seed)
    return {name: plain(value) for name, value in options.items()}


def plain(value: Any) -> Any:
    """Numbers of numpy as Python's, and whatever has an order as a list."""
    if isinstance(value, np.generic):
        return value.item()
    values = in_order(value)
    return value if values is None else [plain(each) for each in values]


def coin_seed(seed: int | None) -> int:
    """A seed for a learner's own coins, apart from that of the draws."""
    entropy = None if seed is None else as_count(seed, "seed", 0)
    sequence = np.random.SeedSequence(entropy, spawn_key=(COIN,))
    return int(sequence.generate_state(1)[0])
