"""The wire forms of health, verification, statistics and logs, as in the OpenAPI document."""

from typing import Annotated, Any, Literal

from fastapi import Query
from pydantic import BaseModel, ConfigDict, Field

from belated.service.web.models import PROBLEM, ProblemBody, example

MEAN: dict[str, Any] = {"count": 1, "mean": 0.5, "variance": None, "half_width": None}
NONE: dict[str, Any] = {"count": 0, "mean": None, "variance": None, "half_width": None}
DELAY: dict[str, Any] = {
    "told": 1, "censored": 0, "quantiles": {"0.25": 3.0, "0.5": 3.0, "0.75": 3.0, "0.9": 3.0},
    "median": 3.0, "median_low": 3.0, "median_high": 3.0,
    "watched": 3.0, "told_share": 1.0, "mean_within": 3.0,
}  # fmt: skip
NO_DELAY: dict[str, Any] = {
    **dict.fromkeys(DELAY),
    "told": 0,
    "censored": 1,
    "quantiles": dict.fromkeys(DELAY["quantiles"]),
}
STATS: dict[str, Any] = {
    "at": 1760000002.0,
    "decisions_per_second": 0.03,
    "decisions_of_last_minute": [0] * 58 + [1, 1],
    "told_as": "loss",
    "late_reports": 0,
    "retained": None,
    "repeated_reports": 0,
    "trust": {"trusted": True, "trusted_rounds": 2, "rounds": 2,
              "account": {"red": 0.5, "green": 1.5}, "budget": 13.2},
    "by_arm": [
        {"arm": arm, "removed": False, "decided": 1, "told": told, "expired": 0, "cancelled": 0,
         "loss": mean, "unit_loss": mean, "late_loss": NONE,
         "told_loss": mean, "delay_rounds": mean, "delay_seconds": delay,
         "clipped": {"count": 0, "above": 0.0, "below": 0.0}}
        for arm, told, mean, delay in (("red", 1, MEAN, DELAY), ("green", 0, NONE, NO_DELAY))
    ],
    "weights_over_time": {
        "round": [1, 2], "at": [1760000000.5, 1760000001.5], "weights": [[0.5, 0.5], [0.45, 0.55]],
    },
    "events": [
        {"at": 1760000001.5, "kind": "decided", "ticket": "06fq3k1zv8n9c5d2h7b4m0t6wx",
         "arm": "green", "probability": 0.55, "loss": None, "reward": None, "unit_loss": None}
    ],
    "range": {
        "name": "all", "since": 1760000000.0,
        "by_arm": [
            {"arm": "red", "decided": 1, "told": 1, "expired": 0, "cancelled": 0, "waiting": 0,
             "closed_mean": 0.5, "value": {"mean": 0.5, "low": None, "high": None}},
            {"arm": "green", "decided": 1, "told": 0, "expired": 0, "cancelled": 0, "waiting": 1,
             "closed_mean": None, "value": {"mean": None, "low": None, "high": None}},
        ],
    },
    "waiting": {
        "age_seconds": [60.0, 600.0, 3600.0, 86400.0, 604800.0],
        "by_arm": {"green": [1, 0, 0, 0, 0, 0]},
        "oldest_seconds": {"green": 0.5},
    },
}  # fmt: skip


class HealthBody(BaseModel):
    """Whether the service carries out requests, its version and its database."""

    model_config = example(status="ok", version="0.2.0", store="SQLite 3.51.3", workers=1)

    status: Literal["ok", "stopped"]
    version: str
    store: str
    workers: int = Field(description="Those that serve behind this port.")


class LagBody(BaseModel):
    """The events of the journal that were not read yet, and the seconds since the oldest."""

    rows: int
    seconds: float


class ReadinessBody(BaseModel):
    """Whether the service can commit, why not, and what of it is not as it should be."""

    model_config = example(
        status="ready",
        reasons=[],
        lag={"rows": 0, "seconds": 0.0},
        broken=[],
        interpreted=["concealed ask_bounded_bandit"],
    )

    status: Literal["ready", "not ready"]
    reasons: list[str]
    lag: LagBody | None
    broken: list[str]
    interpreted: list[str]


class ProblemVerificationBody(BaseModel):
    """The wire form of `verify.ProblemVerification`."""

    problem: str
    events: int
    retained: int = Field(description="Events in the checkpoint, which are not in `events`.")
    rounds: int
    pending: int
    gap: float = Field(description="Largest difference between a probability and the fold's.")
    judged: int = Field(description="Decisions that this version of belated has made.")
    off: float = Field(description="The same difference, of these decisions only.")
    sealed: int = Field(description="Events whose row has a checksum.")
    state: str = Field(description="The fingerprint of the folded state.")
    complaints: list[str]
    clean: bool


class VerificationBody(BaseModel):
    """The result of a verification: the journal was folded again and compared."""

    model_config = example(
        clean=True,
        problems=[
            {
                "problem": "ads",
                "events": 538,
                "retained": 0,
                "rounds": 270,
                "pending": 4,
                "gap": 0.0,
                "judged": 270,
                "off": 0.0,
                "sealed": 538,
                "state": "b8adfa7c7c6cf47e",
                "complaints": [],
                "clean": True,
            }
        ],
    )

    clean: bool
    problems: list[ProblemVerificationBody]


class EstimateBody(BaseModel):
    """Count, mean and variance of a number, and half the width of the mean's 95 % interval."""

    count: int
    mean: float | None
    variance: float | None
    half_width: float | None


class DelayBody(BaseModel):
    """The delays of an arm by the Kaplan-Meier estimate, in seconds.

    Plays that wait or have expired count as well: their delay is longer than they waited. So a
    quantile is that of all plays; it is null if fewer were told, even of those that waited longest.
    Experts' plays that wait are taken to be as old as their tickets.
    """

    told: int
    censored: int = Field(description="Plays that wait, or have expired.")
    quantiles: dict[str, float | None] = Field(
        description="The seconds within which these shares of all plays are told."
    )
    median: float | None
    median_low: float | None = Field(description="The lower end of the median's 95 % interval.")
    median_high: float | None = Field(description="Its upper end; null if it is not known yet.")
    watched: float | None = Field(description="The longest delay, about, of anything told.")
    told_share: float | None = Field(description="The share of plays told within that.")
    mean_within: float | None = Field(
        description="The mean delay, if a longer one counts as that longest."
    )


class ClippedBody(BaseModel):
    """Outcomes that lay out of the soft range, and how far above and below it, summed."""

    count: int
    above: float
    below: float


class ArmStatsBody(BaseModel):
    """The outcomes, losses and delays of an arm.

    `loss` is what the learner counts, in the problem's units: losses that were told, and those of
    expired plays; `unit_loss` is the same in [0, 1]. The reward that a loss stands for is
    low + high - loss. `told_loss` is of what was reported in time, `late_loss` of what was reported
    too late. `delay_rounds` is of those told in time.
    """

    arm: str
    removed: bool
    decided: int
    told: int
    expired: int
    cancelled: int
    loss: EstimateBody
    told_loss: EstimateBody
    unit_loss: EstimateBody
    late_loss: EstimateBody
    delay_rounds: EstimateBody
    clipped: ClippedBody
    delay_seconds: DelayBody


RangeName = Literal["hour", "day", "week", "all"]
InRange = Annotated[RangeName, Query(alias="range", description="Of these decisions only.")]


class ValueBody(BaseModel):
    """What an arm loses in the end, in the problem's units, with its 95 % interval.

    Plays that wait count as plays of their age have turned out (Kaplan-Meier); plays that are never
    told count with the default loss, or as those that are told if there is none.
    """

    mean: float | None
    low: float | None
    high: float | None


class ArmRangeBody(BaseModel):
    """What became of the decisions of a range for an arm; `closed_mean` leaves out what waits."""

    arm: str
    decided: int
    told: int
    expired: int
    cancelled: int
    waiting: float
    closed_mean: float | None = Field(description="The mean loss of what was reported or expired.")
    value: ValueBody


class RangeBody(BaseModel):
    """The decisions of the last hour, day or week, or of all time, by arm."""

    name: RangeName
    since: float = Field(description="When the first of these decisions could have been made.")
    by_arm: list[ArmRangeBody]


class WeightHistoryBody(BaseModel):
    """The weights of all present and former arms in some rounds."""

    round: list[int]
    at: list[float]
    weights: list[list[float]]


class EventBody(BaseModel):
    """One of the latest events: a decision's probability, or what was reported.

    `loss` is in the problem's units, `reward` is there if a reward was told, and `unit_loss` is the
    same loss in [0, 1].
    """

    at: float
    kind: str
    ticket: str
    arm: str | None
    probability: float | None
    loss: float | None
    reward: float | None
    unit_loss: float | None


class OpenTicketsBody(BaseModel):
    """The numbers of open tickets by arm and age, the youngest first; experts are under ""."""

    age_seconds: list[float]
    by_arm: dict[str, list[int]]
    oldest_seconds: dict[str, float]


class RetainedBody(BaseModel):
    """How many tickets are folded into a checkpoint, their rows being given up, and until when."""

    tickets: int
    until: float


class TrustBody(BaseModel):
    """Certified trust (Theorem 4): whether a round is played from estimates or by the fallback.

    A round is trusted if no arm's account C is above the budget b. Both are in the problem's units.
    The account of an arm is at most the budget and one loss, and the expected regret of the trusted
    rounds against the arm is at most the expectation of its account.
    """

    trusted: bool = Field(description="Whether the coming round is; else the fallback plays it.")
    trusted_rounds: int
    rounds: int
    account: dict[str, float] = Field(description="C of the coming round, by arm.")
    budget: float = Field(description="b of the coming round.")


class ProblemStatsBody(ProblemBody):
    """A problem with all its statistics."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [{**PROBLEM, **STATS}]})

    at: float
    decisions_per_second: float
    decisions_of_last_minute: list[int]
    told_as: Literal["loss", "reward"] = Field(description="How most outcomes were told.")
    late_reports: int
    retained: RetainedBody | None
    repeated_reports: int
    trust: TrustBody | None = Field(description="Null unless the learner is certified.")
    by_arm: list[ArmStatsBody]
    range: RangeBody
    weights_over_time: WeightHistoryBody
    events: list[EventBody]
    waiting: OpenTicketsBody


class CohortBody(BaseModel):
    """The decisions of a cohort that count, how many of them were told, and their mean reward."""

    decisions: int
    told: int
    mean: float | None


class SpanBody(BaseModel):
    """The uplift over some decisions, and the ends of its interval; null if there are none."""

    value: float | None
    low: float | None
    high: float | None


class TotalUpliftBody(SpanBody):
    """The uplift over all decisions that count; `relative` is its share of the control's mean."""

    relative: float | None


class UpliftPointBody(SpanBody):
    """The uplift after so many decisions, of which the last was made at this time."""

    at: float
    decisions: int


class UpliftDayBody(SpanBody):
    """The decisions of a day in UTC by themselves, and the mean reward of each cohort."""

    day: str
    decisions: int
    treatment: float | None
    control: float | None


class UpliftSegmentBody(SpanBody):
    """The decisions of a segment by themselves, and the mean reward of each cohort."""

    segment: str
    decisions: int
    treatment: float | None
    control: float | None


class ArmCohortsBody(BaseModel):
    """What each cohort has earned with an arm."""

    arm: str
    treatment: CohortBody
    control: CohortBody


class UpliftBody(BaseModel):
    """What treated decisions have earned more than those of the control, in rewards per decision.

    The interval of `uplift`, and all those of `over_time` at once, hold with the chance `level` at
    every look. Each of the days does so by itself. Losses are counted as rewards low + high - loss.
    """

    model_config = example(
        problem="shop", at=1760000000.0, share=0.1, control_arm="red", control_weights=None,
        level=0.95, within=604800.0, silent_reward=0.0, until=1759990000.0, decisions=6000,
        waiting=120, cancelled=3, clipped=0,
        treatment={"decisions": 5390, "told": 3200, "mean": 0.31},
        control={"decisions": 610, "told": 330, "mean": 0.25},
        uplift={"value": 0.06, "low": 0.01, "high": 0.11, "relative": 0.24},
        over_time=[
            {"at": 1759990000.0, "decisions": 6000, "value": 0.06, "low": 0.01, "high": 0.11}
        ],
        days=[{"day": "2025-10-09", "decisions": 6000, "treatment": 0.31, "control": 0.25,
               "value": 0.06, "low": 0.01, "high": 0.11}],
        by="device",
        segments=[{"segment": "phone", "decisions": 6000, "treatment": 0.31, "control": 0.25,
                   "value": 0.06, "low": 0.01, "high": 0.11}],
        by_arm=[{"arm": "red", "treatment": {"decisions": 900, "told": 500, "mean": 0.25},
                 "control": {"decisions": 610, "told": 330, "mean": 0.25}}],
        **{"from": 1759900000.0},
    )  # fmt: skip

    problem: str
    at: float
    share: float = Field(description="The share of decisions that the control draws.")
    control_arm: str | None = Field(description="The arm of the control, if it plays one.")
    control_weights: dict[str, float] | None = Field(
        description="Its weights, if it has some; without either it is uniform."
    )
    level: float
    within: float | None = Field(
        description="Seconds after which a decision that was not told counts as silent; null: "
        "when its ticket expires."
    )
    silent_reward: float = Field(description="What a silent decision counts with.")
    start: float | None = Field(alias="from", description="When the first that counts was made.")
    until: float | None = Field(description="When the last that counts was made.")
    decisions: int = Field(description="Those that count.")
    waiting: int = Field(description="Those that do not count yet.")
    cancelled: int
    clipped: int = Field(description="Told rewards out of a soft range, which count as its end.")
    treatment: CohortBody
    control: CohortBody
    uplift: TotalUpliftBody
    over_time: list[UpliftPointBody]
    days: list[UpliftDayBody]
    by: str | None = Field(description="The field of the context that the segments are of.")
    segments: list[UpliftSegmentBody]
    by_arm: list[ArmCohortsBody]


class LogBody(BaseModel):
    """The journal of a problem as a log; `arms` are those it was created with.

    `loss` and `late_loss` are in the problem's units, `reward` and `late_reward` are there if
    rewards were told, and `unit_loss` is in [0, 1]. What is late came after the play had expired.
    """

    model_config = example(
        arms=["red", "green"],
        retained=None,
        columns=["round", "arm", "probability", "loss", "arrival", "reward", "unit_loss"],
        rows=[[1, "green", 0.5, 3.0, 3, 12.0, 0.2]],
    )

    arms: list[str]
    retained: RetainedBody | None
    columns: list[str]
    rows: list[list[Any]]
