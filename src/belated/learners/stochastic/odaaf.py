"""ODAAF (Pike-Burke, Agrawal, Szepesvári, Grünewälder 2018), for delayed anonymous rewards.

The learner sees only the sum of the rewards that arrive in a round, and credits it to the arm that
it plays. It plays each arm for many rounds in a row, which keeps the error small: the rewards that
are credited to the next arm are bounded by the mean delay. In two of its three forms a bridge, a
number of rounds that are credited to no arm, separates the phases.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, get_args

import numpy as np

from belated.arrays import Counts, Floats
from belated.compiled.kernels import compiled
from belated.learners.contract import Prediction, Verbs
from belated.learners.stochastic.confidence_bounds import mean_reward
from belated.learners.stochastic.stochastic import StochasticLearner, not_negative
from belated.numerics.exact_sums import add_exactly
from belated.numerics.tie_breaking import share_among_largest
from belated.types import Covers, Need, Origin

Form = Literal["mean", "bounded", "variance"]
NO_ARM = -1
LONGEST = 2.0**31  # the square root of the longest phase


class OdaafState(NamedTuple):
    """State, by arm: active (1 or 0), the rounds credited to it, and the exact sum of rewards.

    `lengths` has n_m, the rounds that each arm must have by the end of phase m. `current` is the
    arm that is being played in a row, `credited` the arm that the last round was credited to, and
    `bridge` the number of rounds left in the present bridge. `bridges` is 1 if there are bridges.
    """

    active: Counts
    observed: Counts
    rewards: Floats
    lengths: Counts
    bridges: Counts
    phase: Counts
    bridge: Counts
    current: Counts
    credited: Counts
    round: Counts


class OdaafInfo(NamedTuple):
    """Which arms are active and which still need rounds in the phase (1 or 0); phase and bridge."""

    active: Floats
    wanted: Floats
    phase: Floats
    bridge: Floats


@compiled
def note_wanted(state: OdaafState, info: OdaafInfo) -> bool:
    """Mark the active arms that need more rounds in this phase; return whether there are any.

    After the last phase every active arm stays marked.
    """
    phase, found = int(info.phase[0]), False
    for i in range(info.active.shape[0]):
        wanted = info.active[i] == 1.0
        if phase < state.lengths.shape[0] and state.observed[i] >= state.lengths[phase]:
            wanted = False
        info.wanted[i] = 1.0 if wanted else 0.0
        found = found or wanted
    return found


@compiled
def end_phase(state: OdaafState, info: OdaafInfo) -> None:
    """Drop arm j if mean_j + 2^-m is below the best mean, and go on to the next phase.

    If there are bridges, one of n_m - n_(m-1) rounds begins.
    """
    phase, best, active = int(info.phase[0]), -math.inf, info.active
    for i in range(active.shape[0]):
        if active[i] == 1.0:
            best = max(best, mean_reward(state.rewards, i, state.observed[i]))
    for i in range(active.shape[0]):
        if active[i] == 1.0:
            mean = mean_reward(state.rewards, i, state.observed[i])
            active[i] = 0.0 if mean + 0.5 ** (phase + 1) < best else 1.0
    if state.bridges[0] == 1:
        before = state.lengths[phase - 1] if phase > 0 else 0
        info.bridge[0] = state.lengths[phase] - before
    info.phase[0] += 1.0


@compiled
def predict(state: OdaafState, prediction: Prediction) -> None:
    """Stay with the current arm; at its end, choose evenly among the arms that need rounds."""
    info, current = prediction.info, state.current[0]
    for i in range(info.active.shape[0]):
        info.active[i] = state.active[i]
    info.phase[0], info.bridge[0] = state.phase[0], state.bridge[0]
    while not note_wanted(state, info) and info.bridge[0] <= 0.0:
        end_phase(state, info)
        current = NO_ARM
    among = info.wanted if info.bridge[0] <= 0.0 else info.active
    share_among_largest(among, prediction.q)
    if current != NO_ARM and among[current] == 1.0:
        for i in range(among.shape[0]):
            prediction.q[i] = 1.0 if i == current else 0.0


@compiled
def commit(state: OdaafState, prediction: Prediction, arm: int, plays: Floats) -> None:
    """Credit the round to the arm, unless it is in a bridge or after the last phase."""
    info = prediction.info
    for i in range(info.active.shape[0]):
        state.active[i] = int(info.active[i])
    state.phase[0] = int(info.phase[0])
    state.bridge[0] = max(0, int(info.bridge[0]) - 1)
    state.current[0] = arm
    state.credited[0] = NO_ARM
    if info.bridge[0] > 0.0:
        state.current[0] = arm if state.bridge[0] > 0 else NO_ARM
    elif state.phase[0] < state.lengths.shape[0]:
        state.credited[0] = arm
        state.observed[arm] += 1
    else:
        state.current[0] = NO_ARM
    state.round[0] += 1
    plays[0, 0] = 0.0


@compiled
def withdraw(state: OdaafState, play: Floats, arm: int) -> None:
    """Do nothing: this learner keeps no record of the outstanding rewards."""


@compiled
def observe(state: OdaafState, play: Floats, arm: int, loss: float, missing: int) -> None:
    """Add the reward 1 - l to the arm that this round is credited to, whatever arm earned it."""
    if state.credited[0] != NO_ARM:
        add_exactly(state.rewards, state.credited[0], 1.0 - loss)


@dataclass(frozen=True)
class Odaaf(StochasticLearner):
    """ODAAF in three forms, by what is known of the delays besides their mean.

    "mean" knows nothing else and has no bridges; "bounded" also knows `max_delay`, and "variance"
    also knows `delay_variance`. After the last phase the remaining arms are played uniformly.
    """

    form: Form = "mean"
    horizon: int = 1
    mean_delay: float = 0.0
    max_delay: int = 0
    delay_variance: float | None = None

    name: ClassVar[str] = "odaaf"
    needs: ClassVar[tuple[Need, ...]] = (Need.HORIZON, Need.MEAN_DELAY, Need.MAX_DELAY)
    guarantee: ClassVar[str] = (
        "stochastic losses, one law of delays for all arms: regret of order sum ln T / gap + K "
        "times the mean delay, if it is bounded"
    )
    covers: ClassVar[Covers] = Covers.SHARED
    origin: ClassVar[Origin] = Origin.READ
    source: ClassVar[str] = "Pike-Burke et al. 2018, read"
    play_width: ClassVar[int] = 1
    state: ClassVar[type] = OdaafState
    verbs: ClassVar[Verbs] = Verbs(predict, commit, withdraw, observe)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.form not in get_args(Form):
            known = ", ".join(map(repr, get_args(Form)))
            raise ValueError(f"form is {self.form!r}; it must be one of {known}")
        self._check_count("horizon", 1)
        self._check_count("max_delay", 0)
        object.__setattr__(self, "mean_delay", not_negative(self.mean_delay, "mean_delay"))
        if self.delay_variance is not None:
            variance = not_negative(self.delay_variance, "delay_variance")
            object.__setattr__(self, "delay_variance", variance)
        elif self.form == "variance":
            raise ValueError("delay_variance is None; form='variance' needs the delays' variance")

    def start(self) -> OdaafState:
        return OdaafState(
            active=np.ones(self.arms, dtype=np.int64),
            observed=np.zeros(self.arms, dtype=np.int64),
            rewards=np.zeros((2, self.arms)),
            lengths=self.lengths(),
            bridges=np.full(1, int(self.form != "mean"), dtype=np.int64),
            phase=np.zeros(1, dtype=np.int64),
            bridge=np.zeros(1, dtype=np.int64),
            current=np.full(1, NO_ARM, dtype=np.int64),
            credited=np.full(1, NO_ARM, dtype=np.int64),
            round=np.ones(1, dtype=np.int64),
        )

    def lengths(self) -> Counts:
        """Return n_m, the rounds of each arm by the end of phase m, for all m with T 4^-m > 1."""
        phases = range(1, 1 + math.ceil(math.log(self.horizon) / math.log(4.0)) + 1)
        lengths = [self._length(m) for m in phases if self.horizon > 4**m]
        return np.array(lengths, dtype=np.int64)

    def _length(self, m: int) -> int:
        """Return n_m: equation 14 of the source for "mean", 18 for "bounded", 25 for "variance"."""
        tolerance, mean = 0.5**m, self.mean_delay
        alone = self._slots(m, 6.0 * tolerance * m * mean)
        if self.form == "mean":
            return math.ceil(alone)
        if self.form == "bounded":
            slots = self._slots(m, 4.0 * tolerance * mean)
            return math.ceil(max(slots, min(float(m) * self.max_delay, alone)))
        variance = self.delay_variance or 0.0
        return math.ceil(self._slots(m, 4.0 * tolerance * (mean + 2.0 * variance)))

    def _slots(self, m: int, extra: float) -> float:
        """Return 4^m (sqrt(2 g) + sqrt(2 g + 8/3 2^-m g + extra))^2, with g = ln(T 4^-m)."""
        tolerance = 0.5**m
        g = math.log(self.horizon * tolerance**2)
        root = math.sqrt(2.0 * g) + math.sqrt(2.0 * g + 8.0 / 3.0 * tolerance * g + extra)
        return min(root / tolerance, LONGEST) ** 2

    def blank(self) -> Prediction:
        by_arm = np.zeros((2, self.arms))
        info = OdaafInfo(by_arm[0], by_arm[1], phase=np.zeros(1), bridge=np.zeros(1))
        return Prediction.blank(self.arms, info=info)
