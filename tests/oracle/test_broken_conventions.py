"""Each convention broken in one place of the oracle, and noticed by the worked cases.

A list of planted faults: every class below is one learner with one fault, named by its docstring.
"""

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from mpmath import mp

from .advice_concealed import AdviceConcealed
from .advice_full import AdviceFull
from .answers import answer
from .argmin import Number, Vector
from .certified_trust import CertifiedTrust, OtherReading
from .script import softmin
from .skipping import Skipping
from .test_answers import CASES, agree
from .without_promise import WithoutPromise

TOLERANCE = 1e-10  # of the conventions
PREFIX = {
    AdviceFull: "a5",
    AdviceConcealed: "a6",
    WithoutPromise: "r2",
    Skipping: "s9",
    CertifiedTrust: "t4",
}
FAULTS: list[Any] = []


def fault(kind: type) -> type:
    """Put a class on the list of faults."""
    FAULTS.append(pytest.param(kind, id=kind.__name__))
    return kind


@functools.cache
def record(path: Path) -> Any:
    return json.loads(path.read_text())


def cases_of(kind: type) -> list[Any]:
    """The worked cases of the learner of which `kind` is a broken variant."""
    prefix = next(PREFIX[base] for base in kind.__mro__ if base in PREFIX)
    return [record(path) for path in CASES if path.stem.startswith(prefix)]


def is_noticed(kind: Any, case: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether some number of the answer is different; the first ends the game."""
    learner = kind(case)
    rows = learner.rounds() if "arms" not in case else learner.replay(case["arms"])
    for t, row in enumerate(rows):
        for key, array in expected.items():
            infinite = key == "gamma" and mp.isinf(row[key])
            if not same([None if infinite else row[key]], [array[t]]):
                return True
    return False


def same(found: list[Any], expected: list[Any]) -> bool:
    try:
        return agree(found, expected, TOLERANCE)
    except ValueError:  # lists of plays of different lengths
        return False


# --- all settings ------------------------------------------------------------------------------


def later(case: dict[str, Any]) -> dict[str, Any]:
    """A case in which every loss comes a round later."""
    return case | {
        "delays": [[None if d is None else d + 1 for d in row] for row in case["delays"]]
    }


# --- Theorem 5 ---------------------------------------------------------------------------------


@fault
class FullARoundLate(AdviceFull):
    """A loss with d = 0 is known only after the next round."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(later(case))


@fault
class FullAdviceOfArrival(AdviceFull):
    """A loss is weighed with the advice of the round in which it becomes known."""

    def estimate(self, s: int, i: int, n: int, j: int) -> Number:
        arrived = int(s + self.script.delays[s - 1][i] + 1)
        return self.advice.xi(arrived, n, i) * self.script.loss(s, i) * self.factor(s, n, j)


@fault
class FullMassOfArrival(AdviceFull):
    """The correction has the missing mass and the rates of when the loss becomes known."""

    def estimate(self, s: int, i: int, n: int, j: int) -> Number:
        arrived = int(s + self.script.delays[s - 1][i] + 1)
        return self.advice.xi(s, n, i) * self.script.loss(s, i) * self.factor(arrived, n, j)


@fault
class FullMassCountedAsPlays(AdviceFull):
    """A missing loss counts as 1 for every policy that advises its arm at all."""

    def missing_mass(self, t: int, n: int) -> Number:
        return mp.mpf(sum(self.advice.xi(s, n, i) > 0 for s, i in self.missing(t)))


@fault
class FullMassByPresentAdvice(AdviceFull):
    """The missing mass is measured by the advice of round t."""

    def missing_mass(self, t: int, n: int) -> Number:
        return sum((self.advice.xi(t, n, i) for _, i in self.missing(t)), mp.mpf(0))


@fault
class FullMassWithPresentRound(AdviceFull):
    """Round t counts as missing from its own start on."""

    def missing_mass(self, t: int, n: int) -> Number:
        return super().missing_mass(t, n) + 1


@fault
class FullCapOfPresentRound(AdviceFull):
    """rho^max is not a running maximum."""

    def most_missing(self, t: int) -> Number:
        return max(self.rho[t - 1])


@fault
class FullCapOfLastRound(AdviceFull):
    """rho^max leaves out the present round."""

    def most_missing(self, t: int) -> Number:
        return max((max(row) for row in self.rho[: t - 1]), default=mp.mpf(0))


@fault
class FullCapAfterPlays(AdviceFull):
    """rho^max is updated right after a round is played, when its whole mass is missing."""

    def most_missing(self, t: int) -> Number:
        return max([*self.rho[t - 1], *(1 + x for row in self.rho[: t - 1] for x in row)])


@fault
class FullPaperGrid(AdviceFull):
    """The second term of the rates has the paper's sqrt(1 + rho^max)."""

    def rates(self, t: int) -> Vector:
        cap = 1 / (4 * (1 + self.most_missing(t)))
        scale = mp.sqrt(mp.log(self.N) + 2 * (mp.log(self.T) + 1)) * mp.sqrt(4 * cap)
        return [min(cap, scale / (4 * 2**j)) for j in range(1, self.J + 1)]


@fault
class FullLogOfArms(AdviceFull):
    """The rates have ln K for ln N."""

    def rates(self, t: int) -> Vector:
        cap = 1 / (4 * (1 + self.most_missing(t)))
        scale = mp.sqrt(mp.log(self.K) + 2 * (mp.log(self.T) + 1))
        return [min(cap, scale / (4 * 2**j)) for j in range(1, self.J + 1)]


@fault
class FullShortGrid(AdviceFull):
    """J is the paper's, the least with 4^J >= T."""

    def grid_size(self) -> int:
        return -(-super().grid_size() // 2)


@fault
class FullEvenGrid(AdviceFull):
    """All rates have the same first weight."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(case)
        self.weights = [mp.mpf(1) / self.J] * self.J


@fault
class FullNoPrior(AdviceFull):
    """The prior is ignored."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(case | {"prior": None})


@fault
class FullCorrectionWithoutOne(AdviceFull):
    """The correction is 4 eta rho, as in the partially concealed setting."""

    def factor(self, s: int, n: int, j: int) -> Number:
        return 1 + 4 * self.eta[s - 1][j] * self.rho[s - 1][n]


@fault
class FullNoCorrection(AdviceFull):
    """There is no correction."""

    def factor(self, s: int, n: int, j: int) -> Number:
        return mp.mpf(1)


@fault
class FullCapByPolicy(AdviceFull):
    """The correction has the largest missing mass in the place of the policy's own."""

    def factor(self, s: int, n: int, j: int) -> Number:
        return 1 + 4 * self.eta[s - 1][j] * (1 + max(self.rho[s - 1]))


# --- Theorem 6 ---------------------------------------------------------------------------------


@fault
class ConcealedARoundLate(AdviceConcealed):
    """A loss with d = 0 is known only after the next round."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(later(case))


@fault
class ConcealedOneArmWaits(AdviceConcealed):
    """w counts the outstanding plays of one arm only, the one played last."""

    def waiting(self, t: int, n: int) -> Number:
        plays = [s for s in self.outstanding(t) if self.arm(s) == self.arm(t - 1)]
        return sum((self.b(s, n) for s in plays), mp.mpf(0))


@fault
class ConcealedOverlapOfOneArm(AdviceConcealed):
    """z counts the outstanding plays of the played arm only, as for single arms."""

    def z(self, s: int) -> Number:
        same = [r for r in range(1, s) if not self.is_told(r, s) and self.arm(r) == self.arm(s)]
        return sum(
            self.p[s - 1][n] * self.b(s, n) * sum(self.b(r, n) for r in same)
            for n in self.advice.policies
        )


@fault
class ConcealedOverlapWithItself(AdviceConcealed):
    """z counts the play itself."""

    def z(self, s: int) -> Number:
        return super().z(s) + self.v(s)


@fault
class ConcealedAdviceOfArrival(AdviceConcealed):
    """The estimate has the advice of the round in which the loss becomes known."""

    def cumulative(self, t: int) -> Vector:
        totals = [mp.mpf(0)] * self.N
        for s in self.told(t):
            i = self.arm(s)
            known = int(s + self.script.delays[s - 1][i] + 1)
            ratio = self.own_loss(s) / (self.q[s - 1][i] + self.exploration(s))
            totals = [x + ratio * self.advice.xi(known, n, i) for n, x in enumerate(totals)]
        return totals


@fault
class ConcealedWaitingByPresentAdvice(AdviceConcealed):
    """w is measured by the advice of round t."""

    def waiting(self, t: int, n: int) -> Number:
        return sum(
            (
                self.advice.xi(t, n, self.arm(s))
                / (self.q[s - 1][self.arm(s)] + self.exploration(s))
                for s in self.outstanding(t)
            ),
            mp.mpf(0),
        )


@fault
class ConcealedMoreExploration(AdviceConcealed):
    """eps_t is the paper's 1/sqrt(t)."""

    def exploration(self, t: int) -> Number:
        return 1 / mp.sqrt(t)


@fault
class ConcealedWithoutExploration(AdviceConcealed):
    """eps_t = 0."""

    def exploration(self, t: int) -> Number:
        return mp.mpf(0)


@fault
class ConcealedPresentWaiting(AdviceConcealed):
    """W is not a running maximum."""

    def most_waiting(self, t: int) -> Number:
        return max(self.w[t - 1])


@fault
class ConcealedWaitingAfterPlays(AdviceConcealed):
    """W is updated right after each play, which then waits even if its loss comes at once."""

    def most_waiting(self, t: int) -> Number:
        after = [self.w[s - 1][n] + self.b(s, n) for s in range(1, t) for n in range(self.N)]
        return max([*self.w[t - 1], *after])


@fault
class ConcealedRootOfLastRound(AdviceConcealed):
    """gamma_t has sqrt(K (t-1)), of which gamma_1 keeps sqrt(K)."""

    def rate(self, t: int) -> Number:
        gap = (mp.sqrt(self.K * t) - mp.sqrt(self.K * max(1, t - 1))) / 4
        return mp.sqrt(mp.log(self.N) / (mp.log(self.N) / super().rate(t) ** 2 - gap))


@fault
class ConcealedRootNotQuartered(AdviceConcealed):
    """gamma_t has sqrt(K t) for sqrt(K t)/4."""

    def rate(self, t: int) -> Number:
        gap = 3 * mp.sqrt(self.K * t) / 4
        return mp.sqrt(mp.log(self.N) / (mp.log(self.N) / super().rate(t) ** 2 + gap))


@fault
class ConcealedLogOfArms(AdviceConcealed):
    """gamma_t has ln K for ln N."""

    def rate(self, t: int) -> Number:
        return super().rate(t) * mp.sqrt(mp.log(self.K) / mp.log(self.N))


@fault
class ConcealedWithoutVariance(AdviceConcealed):
    """gamma_t leaves out v."""

    def v(self, s: int) -> Number:
        return mp.mpf(0)


@fault
class ConcealedVarianceOfThePlayed(AdviceConcealed):
    """v_t is q b^2 of the arm, q/(q+eps)^2, as if all policies advised it alike."""

    def v(self, s: int) -> Number:
        x = self.q[s - 1][self.arm(s)]
        return x / (x + self.exploration(s)) ** 2


@fault
class ConcealedNoPrior(AdviceConcealed):
    """The prior is ignored."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(case | {"prior": None})


@fault
class ConcealedPriorTwice(AdviceConcealed):
    """The prior weighs twice."""

    def start(self) -> dict[str, Any]:
        row = super().start()
        squared = [x * x for x in self.advice.prior]
        self.p[-1] = softmin(squared, self.gamma[-1], self.cumulative(self.round))
        self.q[-1] = self.advice.mixture(self.round, self.p[-1])
        return row | {"p": self.p[-1], "q": self.q[-1]}


# --- Prop. 2 -----------------------------------------------------------------------------------


@fault
class PromiseARoundLate(WithoutPromise):
    """A loss with d = 0 is known only after the next round."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(later(case))


@fault
class PromiseMoreExploration(WithoutPromise):
    """eps_t is the paper's 1/sqrt(t)."""

    def exploration(self, t: int) -> Number:
        return 1 / mp.sqrt(t)


@fault
class PromiseWeightWithoutExploration(WithoutPromise):
    """The weights in W and in the overlap are 1/q, but not those of the estimates."""

    def weight(self, s: int) -> Number:
        return 1 / self.q[s - 1][self.arm(s)]

    def estimate(self, s: int) -> Number:
        return super().weight(s) * self.own_loss(s)


@fault
class PromiseFasterRate(WithoutPromise):
    """eta_t = 1/sqrt(t)."""

    def eta(self, t: int) -> Number:
        return 1 / mp.sqrt(t)


@fault
class PromisePresentWaiting(WithoutPromise):
    """W is not a running maximum."""

    def most_waiting(self, t: int) -> Number:
        return max(self.w[t - 1])


@fault
class PromiseWaitingOfAllArms(WithoutPromise):
    """W is the sum over the arms."""

    def most_waiting(self, t: int) -> Number:
        return max(sum(row) for row in self.w[:t])


@fault
class PromiseWaitingAfterPlays(WithoutPromise):
    """W is updated right after each play, which then waits even if its loss comes at once."""

    def most_waiting(self, t: int) -> Number:
        after = [self.w[s - 1][self.arm(s)] + self.weight(s) for s in range(1, t)]
        return max([*self.w[t - 1], *after])


@fault
class PromiseWithoutWaiting(WithoutPromise):
    """gamma leaves out W, as with a promise that nothing is missing."""

    def rate(self, t: int) -> Number:
        below = self.overlap(t)
        return mp.sqrt(mp.log(self.K) / below) if below else mp.inf


@fault
class PromiseOverlapOfAllArms(WithoutPromise):
    """The overlap counts the outstanding plays of all arms."""

    def overlap(self, t: int) -> Number:
        return sum((sum(self.w[s - 1]) for s in range(1, t)), mp.mpf(0))


@fault
class PromiseOverlapWithItself(WithoutPromise):
    """The overlap counts the play itself."""

    def overlap(self, t: int) -> Number:
        return super().overlap(t) + sum(self.weight(s) for s in range(1, t))


@fault
class PromiseOverlapARoundLate(WithoutPromise):
    """The overlap of the last play is left out."""

    def overlap(self, t: int) -> Number:
        return super().overlap(max(1, t - 1))


# --- Theorem 9 ---------------------------------------------------------------------------------


@fault
class SkippingNever(Skipping):
    """Nothing is skipped."""

    def newly_skipped(self, t: int) -> list[int]:
        return []


@fault
class SkippingOneAtATime(Skipping):
    """Only the oldest play that qualifies is skipped."""

    def newly_skipped(self, t: int) -> list[int]:
        return super().newly_skipped(t)[:1]


@fault
class SkippingAgainstTheLastRound(Skipping):
    """c of the present round is compared with Z of the round before."""

    def newly_skipped(self, t: int) -> list[int]:
        threshold = mp.sqrt(self.Z(max(1, t - 1)) / mp.log(self.K))
        return [s for s in self.outstanding(t) if self.contribution(s, t) > threshold]


@fault
class SkippingAgainstTheNextRound(Skipping):
    """c of the round before is compared with Z of the present one."""

    def newly_skipped(self, t: int) -> list[int]:
        threshold = mp.sqrt(self.Z(t) / mp.log(self.K))
        return [s for s in self.outstanding(t) if self.contribution(s, t - 1) > threshold]


@fault
class SkippingBeforeArrivals(Skipping):
    """What arrives at the end of round t - 1 can still be skipped at the start of t."""

    def newly_skipped(self, t: int) -> list[int]:
        threshold = mp.sqrt(self.Z(t) / mp.log(self.K))
        open_before = [*self.outstanding(t - 1), t - 1] if t > 1 else []
        return [s for s in open_before if self.contribution(s, t) > threshold]


@fault
class SkippingWithoutLogarithm(Skipping):
    """c is compared with sqrt(Z)."""

    def newly_skipped(self, t: int) -> list[int]:
        threshold = mp.sqrt(self.Z(t))
        return [s for s in self.outstanding(t) if self.contribution(s, t) > threshold]


@fault
class SkippingTies(Skipping):
    """A tie is skipped, so that Z = 0 skips all that is outstanding."""

    def newly_skipped(self, t: int) -> list[int]:
        threshold = mp.sqrt(self.Z(t) / mp.log(self.K))
        return [s for s in self.outstanding(t) if self.contribution(s, t) >= threshold]


@fault
class SkippingForgetsSkipped(Skipping):
    """Z loses the contributions of skipped plays."""

    def Z(self, t: int) -> Number:
        kept = [s for s in range(1, t) if not self.is_skipped(s, t)]
        return sum((self.contribution(s, t) for s in kept), mp.mpf(0))


@fault
class SkippingForgetsArrived(Skipping):
    """Z loses the contributions of plays whose losses have come."""

    def Z(self, t: int) -> Number:
        kept = [s for s in range(1, t) if not self.is_told(s, t)]
        return sum((self.contribution(s, t) for s in kept), mp.mpf(0))


@fault
class SkippingLearnsSkipped(Skipping):
    """The loss of a skipped play is learned when it comes."""

    def told(self, t: int) -> list[int]:
        return [s for s in range(1, t) if self.is_told(s, t)]


@fault
class SkippingContributesOn(Skipping):
    """A skipped play goes on contributing while it is outstanding."""

    def contribution(self, s: int, t: int) -> Number:
        later = [r for r in range(s + 1, t) if self.arm(r) == self.arm(s)]
        return self.weight(s) * sum(not self.is_told(s, r) for r in later)


@fault
class SkippingContributesToAllArms(Skipping):
    """A play contributes with later plays of any arm."""

    def contribution(self, s: int, t: int) -> Number:
        return self.weight(s) * sum(s in self.outstanding(r) for r in range(s + 1, t))


@fault
class SkippingWaitsOn(Skipping):
    """Skipped plays stay in w and W."""

    def waiting(self, t: int, i: int) -> Number:
        plays = [s for s in range(1, t) if not self.is_told(s, t) and self.arm(s) == i]
        return sum((self.weight(s) for s in plays), mp.mpf(0))


@fault
class SkippingLowersWaiting(Skipping):
    """W is over the plays that are not skipped by now, so that a skip lowers it."""

    def most_waiting(self, t: int) -> Number:
        return max(self.remaining(u, t, i) for u in range(1, t + 1) for i in range(self.K))

    def remaining(self, u: int, t: int, i: int) -> Number:
        plays = [s for s in self.outstanding(u) if self.arm(s) == i and not self.is_skipped(s, t)]
        return sum((self.weight(s) for s in plays), mp.mpf(0))


@fault
class SkippingWaitingBeforeSkips(Skipping):
    """W is taken before the skips of a round."""

    def waiting(self, t: int, i: int) -> Number:
        own = [s for s in range(1, t) if self.arm(s) == i and not self.is_told(s, t)]
        plays = [s for s in own if not self.is_skipped(s, t - 1)]
        return sum((self.weight(s) for s in plays), mp.mpf(0))


# --- Theorem 4 ---------------------------------------------------------------------------------


@fault
class TrustOtherReading(OtherReading):
    """A play counts in n from the moment it is made (convention 29)."""


@fault
class TrustARoundLate(CertifiedTrust):
    """A loss with d = 0 is known only after the next round."""

    def __init__(self, case: dict[str, Any]) -> None:
        super().__init__(later(case))


@fault
class TrustCountsAllRounds(CertifiedTrust):
    """Untrusted rounds count, too."""

    def unknown(self, t: int) -> list[int]:
        return self.outstanding(t)

    def known(self, t: int) -> list[int]:
        return self.told(t)


@fault
class TrustCountsUntrustedLosses(CertifiedTrust):
    """The losses of untrusted rounds count when they come."""

    def known(self, t: int) -> list[int]:
        return self.told(t)


@fault
class TrustIgnoresOutstanding(CertifiedTrust):
    """A play whose loss is unknown counts as 0 in C."""

    def regret_estimates(self, t: int) -> Vector:
        return [x - len(self.unknown(t)) for x in super().regret_estimates(t)]


@fault
class TrustPresentOutstanding(CertifiedTrust):
    """n is not a running maximum."""

    def most_outstanding(self, t: int) -> int:
        return self.out[t - 1]


@fault
class TrustWithoutOutstanding(CertifiedTrust):
    """b leaves out n."""

    def most_outstanding(self, t: int) -> int:
        return 0


@fault
class TrustRootWithoutArms(CertifiedTrust):
    """b = beta sqrt(t) + n."""

    def budget(self, t: int) -> Number:
        return self.beta * mp.sqrt(t) + self.most_outstanding(t)


@fault
class TrustRootOfLastRound(CertifiedTrust):
    """b = beta sqrt(K (t-1)) + n."""

    def budget(self, t: int) -> Number:
        return self.beta * mp.sqrt(self.K * (t - 1)) + self.most_outstanding(t)


@fault
class TrustNeverComesBack(CertifiedTrust):
    """Once dropped, trust is dropped for good."""

    def is_trusted(self, C: Vector, b: Number) -> bool:
        return all(self.trusted) and super().is_trusted(C, b)


@fault
class TrustWithoutWeights(CertifiedTrust):
    """The losses of an arm are subtracted without dividing by q."""

    def importance_weighted(self, s: int) -> Number:
        return self.own_loss(s)


@fault
class TrustComparesTheBestOnly(CertifiedTrust):
    """Trusted iff some arm passes, not all."""

    def is_trusted(self, C: Vector, b: Number) -> bool:
        return bool(min(C) <= b)


# --- not noticed by the twelve, only by small cases of our own -----------------------------------


class TrustCountsUntrustedOutstanding(CertifiedTrust):
    """n counts all outstanding plays."""

    def most_outstanding(self, t: int) -> int:
        return max(len(self.outstanding(u)) for u in range(1, t + 1))


class TrustNoTies(CertifiedTrust):
    """A tie is not trusted."""

    def is_trusted(self, C: Vector, b: Number) -> bool:
        return all(x < b for x in C) or not self.trusted


class TrustTolerates(CertifiedTrust):
    """C may exceed b by a tolerance."""

    def is_trusted(self, C: Vector, b: Number) -> bool:
        return bool(max(C) <= b + mp.mpf("1e-6"))


def trust_case(delays: list[int | None], losses: list[float], beta: float) -> dict[str, Any]:
    """Two arms, of which the first, with probability 1/2, is always played."""
    T = len(delays)
    case: dict[str, Any] = {"setting": "certified-trust", "K": 2, "T": T, "beta": beta}
    case |= {"q": [[0.5, 0.5]] * T, "arms": [0] * T, "losses": [[x, 0.0] for x in losses]}
    return case | {"delays": [[d, 0] for d in delays]}


OWN = [
    # C_2 = 1 > b_2 = 2/3 + 0, so round 2 is not trusted; its play never counts as outstanding.
    (TrustCountsUntrustedOutstanding, trust_case([0, None, 0, 0], [1.0] * 4, 1 / 3)),
    # C_2 = 1 = b_2 = n_2.
    (TrustNoTies, trust_case([None, 0, 0], [1.0] * 3, 0.0)),
    # C_2 = 1 > b_2 = 1 - 1e-7.
    (TrustTolerates, trust_case([0, 0, 0], [1.0] * 3, 0.5 - 5e-8)),
]


@pytest.mark.parametrize(("kind", "case"), OWN, ids=lambda x: getattr(x, "__name__", ""))
def test_fault_in_a_case_of_our_own(kind: type, case: dict[str, Any]) -> None:
    with mp.workdps(50):
        assert not any(is_noticed(kind, each["case"], each["answer"]) for each in cases_of(kind))
        assert is_noticed(kind, case, answer(case))


@pytest.mark.parametrize("kind", FAULTS)
def test_fault(kind: type) -> None:
    with mp.workdps(50):
        assert any(is_noticed(kind, each["case"], each["answer"]) for each in cases_of(kind))


@pytest.mark.parametrize("kind", PREFIX)
def test_without_a_fault_nothing_is_noticed(kind: type) -> None:
    with mp.workdps(50):
        assert not any(
            is_noticed(kind, each["case"], each["answer"]) for each in cases_of(kind)[-1:]
        )
