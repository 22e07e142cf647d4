"""Corrections a_s(i, j): added to a loss estimate to account for the losses missing in round s."""

from collections.abc import Callable
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.ftrl.ledger import Play

Correction = Callable[[Play, int, Any, int], Floats]


def for_known_missing(play: Play, arm: int, estimate: float, missing: int) -> Floats:
    """eq:fullinfocorr, for every rate: 4 eta_s ltil (1 + rho_s(i)), by the learner's own count."""
    return play.rates * (4.0 * estimate * (1.0 + int(play.missing[arm])))


def for_missing_mass(play: Play, arm: int, estimate: Floats, missing: int) -> Floats:
    """4 eta_s ltil (1 + rho_s(n)) of Theorem 5, for every policy and rate, by the missing mass."""
    assert play.missing_mass is not None
    return estimate * (4.0 * play.rates * (1.0 + play.missing_mass[:, np.newaxis]))


def for_reported_missing(play: Play, arm: int, estimate: float, missing: int) -> Floats:
    """eq:correctionbandit, for every rate: 4 gamma ltil rho_s(i_s), reported with the loss."""
    return 4.0 * play.rates * estimate * missing


def no_correction(play: Play, arm: int, estimate: float, missing: int) -> Floats:
    """a = 0: the concealed setting has no correction (th:concealed)."""
    return np.zeros(play.p.shape[1])
