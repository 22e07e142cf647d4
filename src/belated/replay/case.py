"""The replay format: a JSON object with a learner and the losses, delays and plays of a game."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.replay.case_values import (
    advice_tables,
    delays_or_never,
    played_arms,
    prior_weights,
    unit_losses,
    whole_number,
)
from belated.replay.trust_case import SETTING as TRUST_SETTING
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
    """Read a case from a JSON file, and check every value."""
    return parse_case(case_content(path))


def case_content(path: Path) -> object:
    """Read the JSON object of a case from a file, which is the case or has it under `case`."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        logs = "; a log must end in .csv or .parquet" if path.suffix != ".json" else ""
        raise ValueError(f"{path.name} is not JSON{logs}: {error}") from None
    if isinstance(content, dict) and "case" in content:
        content = content["case"]
    return content


def parse_case(content: object) -> Case:
    """Make a case from its JSON object, and check every value."""
    if not isinstance(content, dict):
        raise ValueError("a case must be a JSON object")
    name = content.get("setting")
    if isinstance(name, str) and name in ADVICE_SETTINGS:
        return _advice_case(content, ADVICE_SETTINGS[name])
    if not isinstance(name, str) or name not in SETTINGS:
        known = _listed([*SETTINGS, *ADVICE_SETTINGS, TRUST_SETTING])
        raise ValueError(f"setting is {name!r}; it must be one of {known}")
    setting = SETTINGS[name]
    rounds, arms = whole_number(content, "T", 1), whole_number(content, "K", 1)
    options: dict[str, Any] = {"arms": arms, "variant": content.get("variant") or "paper"}
    if setting is not Setting.CONCEALED:
        options |= {"horizon": rounds, "prior": prior_weights(content.get("prior"))}
    if setting is Setting.PARTIALLY_CONCEALED:
        options["max_missing"] = whole_number(content, "rho_star", 0)
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
        losses=unit_losses(content.get("losses"), rounds, arms),
        delays=delays_or_never(content.get("delays"), rounds, arms),
        arms=played_arms(content.get("arms"), rounds, arms) if bandit else None,
        options=options,
        ignored=tuple(sorted(set(content) - KEYS[setting])),
    )


def _advice_case(content: Mapping[str, Any], setting: Setting) -> Case:
    """Make a case of Theorem 5 or 6, in which policies give advice."""
    rounds, arms, policies = (whole_number(content, key, 1) for key in ("T", "K", "N"))
    options = {"arms": arms, "policies": policies, "prior": prior_weights(content.get("prior"))}
    advice = advice_tables(content.get("advice"), rounds, policies, arms)
    keys, played = ADVICE_KEYS, None
    if setting is Setting.FULL_INFORMATION:
        options["horizon"] = rounds
    else:
        keys, played = keys | {"arms"}, played_arms(content.get("arms"), rounds, arms)
        for t, arm in enumerate(played):
            if not advice[t, :, arm].any():
                raise ValueError(f"the arm of round {t + 1} is {arm}, which no policy advises")
    return Case(
        setting=setting,
        losses=unit_losses(content.get("losses"), rounds, arms),
        delays=delays_or_never(content.get("delays"), rounds, arms),
        arms=played,
        options=options,
        ignored=tuple(sorted(set(content) - keys)),
        advice=advice,
    )


def _listed(words: Any) -> str:
    return ", ".join(sorted(words))


def _promise(content: Mapping[str, Any]) -> int | None:
    """The number rho_star; a repaired learner needs none, so it may be null or left out."""
    if content.get("variant") == "repaired" and content.get("rho_star") is None:
        return None
    return whole_number(content, "rho_star", 0)
