"""Corrections a_s(i, j): what is added to an estimate to pay for the losses that were missing."""

from collections.abc import Callable

import numpy as np

from belated.arrays import Floats
from belated.ftrl.ledger import Play

Correction = Callable[[Play, int, float, int], Floats]


def for_known_missing(play: Play, arm: int, estimate: float, missing: int) -> Floats:
    """eq:fullinfocorr: 4 eta_s ltil (1 + rho_s(i)); the learner counted rho_s(i) itself."""
    return play.rates * (4.0 * estimate * (1.0 + int(play.missing[arm])))


def for_told_missing(play: Play, arm: int, estimate: float, missing: int) -> Floats:
    """eq:correctionbandit: 4 gamma ltil rho_s(i_s); rho_s(i_s) was told with the loss."""
    return 4.0 * play.rates * estimate * missing


def none(play: Play, arm: int, estimate: float, missing: int) -> Floats:
    """a = 0 in the concealed setting (th:concealed)."""
    return np.zeros(play.p.shape[1])
