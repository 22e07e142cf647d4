"""The values in a case's JSON object: each is checked and returned as the replay needs it."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.checks import checked_advice
from belated.environments.missing import NEVER


def whole_number(content: Mapping[str, Any], key: str, least: int) -> int:
    """Return the value of a key, which must be a whole number and not below the least."""
    if key not in content:
        raise ValueError(f"{key} is not given; it must be a whole number of at least {least}")
    value = content[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{key} is {value!r}; it must be a whole number of at least {least}")
    return value


def is_number(value: object) -> bool:
    """Whether a value is a number of JSON that a double can hold; true and false are none."""
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 10**300
    return whole or isinstance(value, float)


def prior_weights(value: object) -> list[float] | None:
    """Return the prior of a case, a list of numbers, or None if there is none."""
    if value is not None and not (isinstance(value, list) and all(map(is_number, value))):
        raise ValueError(f"prior is {value!r}; it must be a list of numbers")
    return value


def table_of(value: object, name: str, rounds: int, arms: int) -> list[list[Any]]:
    """Return a table with a row for each round and a value for each arm."""
    if not isinstance(value, list) or len(value) != rounds:
        found = len(value) if isinstance(value, list) else value
        raise ValueError(f"{name} has {found!r} rows; it must have one for each of {rounds} rounds")
    for t, row in enumerate(value, 1):
        if not isinstance(row, list) or len(row) != arms:
            raise ValueError(f"{name} in round {t} must have one number for each of {arms} arms")
    return value


def unit_losses(value: object, rounds: int, arms: int) -> NDArray[np.float64]:
    """Return the losses of a case, which must be in [0, 1]."""
    table = table_of(value, "losses", rounds, arms)
    for t, row in enumerate(table, 1):
        for loss in row:
            if not is_number(loss) or not 0.0 <= loss <= 1.0:
                raise ValueError(f"a loss in round {t} is {loss!r}; it must be in [0, 1]")
    return np.array(table, dtype=np.float64)


def delays_or_never(value: object, rounds: int, arms: int) -> NDArray[np.int64]:
    """Return the delays of a case; null becomes NEVER, and none is longer than the game."""
    table = table_of(value, "delays", rounds, arms)
    delays = np.full((rounds, arms), NEVER, dtype=np.int64)
    for t, row in enumerate(table):
        for i, delay in enumerate(row):
            if delay is None:
                continue
            whole = is_number(delay) and math.isfinite(delay) and delay == int(delay)
            if not whole or delay < 0:
                rule = "it must be a whole number of at least 0, or null for never"
                raise ValueError(f"a delay in round {t + 1} is {delay!r}; {rule}")
            delays[t, i] = min(int(delay), rounds)
    return delays


def played_arms(value: object, rounds: int, arms: int) -> NDArray[np.int64]:
    """Return the arm that was played in each round."""
    if not isinstance(value, list) or len(value) != rounds:
        raise ValueError(f"arms must list the arm played in each of {rounds} rounds")
    for t, arm in enumerate(value, 1):
        if isinstance(arm, bool) or not isinstance(arm, int) or not 0 <= arm < arms:
            raise ValueError(f"the arm of round {t} is {arm!r}; it must be one of 0 to {arms - 1}")
    return np.array(value, dtype=np.int64)


def advice_tables(value: object, rounds: int, policies: int, arms: int) -> NDArray[np.float64]:
    """Return what each policy advises in each round: (round, policy, arm)."""
    if not isinstance(value, list) or len(value) != rounds:
        raise ValueError(f"advice must have a table for each of {rounds} rounds")
    tables = []
    for t, table in enumerate(value, 1):
        try:
            plain = all(isinstance(row, list) and all(map(is_number, row)) for row in table)
            tables.append(checked_advice(table if plain else None, range(policies), arms))
        except (TypeError, ValueError) as error:
            raise ValueError(f"in round {t}: {error}") from None
    return np.array(tables)
