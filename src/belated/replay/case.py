"""The replay format: a JSON object with a learner and the losses, delays and plays of a game."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.checks import checked_advice
from belated.environments.missing import NEVER
from belated.types import Setting

SETTINGS = {
    "full": Setting.FULL_INFORMATION,
    "partial": Setting.PARTIALLY_CONCEALED,
    "concealed": Setting.CONCEALED,
}
COMMON_KEYS = {"setting", "K", "T", "losses", "delays", "variant"}
ADVICE_SETTINGS = {
    "advice-full": Setting.FULL_INFORMATION,
    "advice-concealed": Setting.CONCEALED,
}
ADVICE_KEYS = {"setting", "K", "N", "T", "losses", "delays", "advice", "prior"}
KEYS = {
    Setting.FULL_INFORMATION: COMMON_KEYS | {"prior"},
    Setting.PARTIALLY_CONCEALED: COMMON_KEYS | {"prior", "arms", "rho_star"},
    Setting.CONCEALED: COMMON_KEYS | {"arms", "rho_star", "options"},
}


@dataclass(frozen=True)
class Case:
    """A checked case: arrays of shape (round, arm), and the options of its learner.

    `advice` has the shape (round, policy, arm); it is None if the case has no policies.
    """

    setting: Setting
    losses: NDArray[np.float64]
    delays: NDArray[np.int64]
    arms: NDArray[np.int64] | None
    options: Mapping[str, Any]
    ignored: tuple[str, ...] = ()  # keys of the JSON object that this learner does not use
    advice: NDArray[np.float64] | None = None


def read_case(path: Path) -> Case:
    """Read a case from a JSON file, which is the case or has it under the key `case`."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        logs = "; a log must end in .csv or .parquet" if path.suffix != ".json" else ""
        raise ValueError(f"{path.name} is not JSON{logs}: {error}") from None
    if isinstance(content, dict) and "case" in content:
        content = content["case"]
    return parse_case(content)


def parse_case(content: object) -> Case:
    """Make a case from its JSON object, and check every value."""
    if not isinstance(content, dict):
        raise ValueError("a case must be a JSON object")
    name = content.get("setting")
    if isinstance(name, str) and name in ADVICE_SETTINGS:
        return _advice_case(content, ADVICE_SETTINGS[name])
    if not isinstance(name, str) or name not in SETTINGS:
        known = _listed([*SETTINGS, *ADVICE_SETTINGS])
        raise ValueError(f"setting is {name!r}; it must be one of {known}")
    setting = SETTINGS[name]
    rounds, arms = _whole(content, "T", 1), _whole(content, "K", 1)
    options: dict[str, Any] = {"arms": arms, "variant": content.get("variant") or "paper"}
    if setting is not Setting.CONCEALED:
        options |= {"horizon": rounds, "prior": _prior(content.get("prior"))}
    if setting is Setting.PARTIALLY_CONCEALED:
        options["max_missing"] = _whole(content, "rho_star", 0)
    if setting is Setting.CONCEALED:
        options["max_missing"] = _promise(content)
        extra = content.get("options") or {}
        if not isinstance(extra, dict) or set(extra) - {"gamma_weight", "skipping"}:
            raise ValueError(
                f"options is {extra!r}; only gamma_weight and skipping may be set there"
            )
        options["gamma_weight"] = extra.get("gamma_weight")
        options["skipping"] = extra.get("skipping", False)
    bandit = setting is not Setting.FULL_INFORMATION
    return Case(
        setting=setting,
        losses=_losses(content.get("losses"), rounds, arms),
        delays=_delays(content.get("delays"), rounds, arms),
        arms=_played(content.get("arms"), rounds, arms) if bandit else None,
        options=options,
        ignored=tuple(sorted(set(content) - KEYS[setting])),
    )


def _advice_case(content: Mapping[str, Any], setting: Setting) -> Case:
    """Make a case of Theorem 5 or 6, in which policies give advice."""
    rounds, arms, policies = (_whole(content, key, 1) for key in ("T", "K", "N"))
    options = {"arms": arms, "policies": policies, "prior": _prior(content.get("prior"))}
    advice = _advice(content.get("advice"), rounds, policies, arms)
    keys, played = ADVICE_KEYS, None
    if setting is Setting.FULL_INFORMATION:
        options["horizon"] = rounds
    else:
        keys, played = keys | {"arms"}, _played(content.get("arms"), rounds, arms)
        for t, arm in enumerate(played):
            if not advice[t, :, arm].any():
                raise ValueError(f"the arm of round {t + 1} is {arm}, which no policy advises")
    return Case(
        setting=setting,
        losses=_losses(content.get("losses"), rounds, arms),
        delays=_delays(content.get("delays"), rounds, arms),
        arms=played,
        options=options,
        ignored=tuple(sorted(set(content) - keys)),
        advice=advice,
    )


def _listed(words: Any) -> str:
    return ", ".join(sorted(words))


def _whole(content: Mapping[str, Any], key: str, least: int) -> int:
    if key not in content:
        raise ValueError(f"{key} is not given; it must be a whole number of at least {least}")
    value = content[key]
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{key} is {value!r}; it must be a whole number of at least {least}")
    return value


def _promise(content: Mapping[str, Any]) -> int | None:
    """The number rho_star; it may be null for a repaired learner, which needs no promise."""
    if content.get("variant") == "repaired" and content.get("rho_star", 0) is None:
        return None
    return _whole(content, "rho_star", 0)


def _number(value: object) -> bool:
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 10**300
    return whole or isinstance(value, float)


def _prior(value: object) -> list[float] | None:
    if value is not None and not (isinstance(value, list) and all(map(_number, value))):
        raise ValueError(f"prior is {value!r}; it must be a list of numbers")
    return value


def _table(value: object, name: str, rounds: int, arms: int) -> list[list[Any]]:
    if not isinstance(value, list) or len(value) != rounds:
        found = len(value) if isinstance(value, list) else value
        raise ValueError(f"{name} has {found!r} rows; it must have one for each of {rounds} rounds")
    for t, row in enumerate(value, 1):
        if not isinstance(row, list) or len(row) != arms:
            raise ValueError(f"{name} in round {t} must have one number for each of {arms} arms")
    return value


def _losses(value: object, rounds: int, arms: int) -> NDArray[np.float64]:
    table = _table(value, "losses", rounds, arms)
    for t, row in enumerate(table, 1):
        for loss in row:
            if not _number(loss) or not 0.0 <= loss <= 1.0:
                raise ValueError(f"a loss in round {t} is {loss!r}; it must be in [0, 1]")
    return np.array(table, dtype=np.float64)


def _delays(value: object, rounds: int, arms: int) -> NDArray[np.int64]:
    table = _table(value, "delays", rounds, arms)
    delays = np.full((rounds, arms), NEVER, dtype=np.int64)
    for t, row in enumerate(table):
        for i, delay in enumerate(row):
            if delay is None:
                continue
            whole = _number(delay) and math.isfinite(delay) and delay == int(delay)
            if not whole or delay < 0:
                rule = "it must be a whole number of at least 0, or null for never"
                raise ValueError(f"a delay in round {t + 1} is {delay!r}; {rule}")
            delays[t, i] = min(int(delay), rounds)
    return delays


def _played(value: object, rounds: int, arms: int) -> NDArray[np.int64]:
    if not isinstance(value, list) or len(value) != rounds:
        raise ValueError(f"arms must list the arm played in each of {rounds} rounds")
    for t, arm in enumerate(value, 1):
        if isinstance(arm, bool) or not isinstance(arm, int) or not 0 <= arm < arms:
            raise ValueError(f"the arm of round {t} is {arm!r}; it must be one of 0 to {arms - 1}")
    return np.array(value, dtype=np.int64)


def _advice(value: object, rounds: int, policies: int, arms: int) -> NDArray[np.float64]:
    if not isinstance(value, list) or len(value) != rounds:
        raise ValueError(f"advice must have a table for each of {rounds} rounds")
    tables = []
    for t, table in enumerate(value, 1):
        try:
            plain = all(isinstance(row, list) and all(map(_number, row)) for row in table)
            tables.append(checked_advice(table if plain else None, range(policies), arms))
        except (TypeError, ValueError) as error:
            raise ValueError(f"in round {t}: {error}") from None
    return np.array(tables)
