"""The oracle's answer to a replay case, in the format of the worked cases, as doubles.

For the settings beyond the paper: advice-full, advice-concealed, concealed without a promise, with
and without skipping, and certified-trust.
"""

from collections.abc import Iterable
from typing import Any

from mpmath import mp

from .advice_concealed import AdviceConcealed
from .advice_full import AdviceFull
from .certified_trust import CertifiedTrust
from .script import BadInputError, Drawn
from .skipping import Skipping
from .without_promise import WithoutPromise

DIGITS = 50


def answer(case: dict[str, Any], digits: int = DIGITS) -> dict[str, Any]:
    """The arrays of a worked case's answer, each number rounded once to a double."""
    with mp.workdps(digits):
        rows = list(rounds(case))
    return {key: [rounded(row[key]) for row in rows] for key in rows[0]}


def rounds(case: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The rows of the answer, one round at a time; to be run in the precision that is wanted."""
    if case["setting"] == "advice-full":
        return AdviceFull(case).rounds()
    return own_plays(case).replay(case["arms"])


def own_plays(case: dict[str, Any]) -> Drawn:
    """The learner of a case in which the arms are drawn."""
    match case["setting"]:
        case "advice-concealed":
            return AdviceConcealed(case)
        case "certified-trust":
            return CertifiedTrust(case)
        case "concealed":
            if case.get("variant") != "repaired" or case.get("rho_star") is not None:
                raise BadInputError("with a promise: see tests/oracle/transcription.py")
            skipping = (case.get("options") or {}).get("skipping")
            return Skipping(case) if skipping else WithoutPromise(case)
        case other:
            raise BadInputError(f"no such setting beyond the paper: {other}")


def rounded(x: Any) -> Any:
    """A number as a double, None if it is infinite; lists entry by entry."""
    if isinstance(x, list):
        return [rounded(y) for y in x]
    if isinstance(x, bool | int):
        return x
    return None if mp.isinf(x) else float(x)
