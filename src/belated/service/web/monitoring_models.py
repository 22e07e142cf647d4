"""The answers to whoever watches over the service, as the OpenAPI document shows them."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from belated.service.web.models import PROBLEM, ProblemView, example

MEAN: dict[str, Any] = {"count": 1, "mean": 0.5, "variance": None, "half_width": None}
NONE: dict[str, Any] = {"count": 0, "mean": None, "variance": None, "half_width": None}
SEEN: dict[str, Any] = {
    "at": 1760000002.0,
    "decisions_per_second": 0.03,
    "decisions_of_last_minute": [0] * 58 + [1, 1],
    "late_reports": 0,
    "repeated_reports": 0,
    "by_arm": [
        {"arm": arm, "removed": False, "decided": 1, "told": told, "expired": 0, "cancelled": 0,
         "loss": mean, "delay_rounds": mean, "delay_seconds": mean}
        for arm, told, mean in (("red", 1, MEAN), ("green", 0, NONE))
    ],
    "weights_over_time": {
        "round": [1, 2], "at": [1760000000.5, 1760000001.5], "weights": [[0.5, 0.5], [0.45, 0.55]],
    },
    "events": [
        {"at": 1760000001.5, "kind": "decided", "ticket": "06fq3k1zv8n9c5d2h7b4m0t6wx",
         "arm": "green", "value": 0.55}
    ],
    "waiting": {
        "age_seconds": [60.0, 600.0, 3600.0, 86400.0, 604800.0],
        "by_arm": {"green": [1, 0, 0, 0, 0, 0]},
        "oldest_seconds": {"green": 0.5},
    },
}  # fmt: skip


class Health(BaseModel):
    """Whether the service sees to requests, and with what."""

    model_config = example(status="ok", version="0.1.0", store="SQLite 3.51.3")

    status: Literal["ok", "stopped"]
    version: str
    store: str


class Finding(BaseModel):
    """What was found about one problem."""

    problem: str
    events: int
    rounds: int
    pending: int
    gap: float = Field(description="How far a probability is from what the fold predicts, at most.")
    state: str = Field(description="The fingerprint of the folded state.")
    complaints: list[str]
    clean: bool


class Verified(BaseModel):
    """The journal, folded again and compared with the state in use."""

    model_config = example(
        clean=True,
        problems=[
            {
                "problem": "ads",
                "events": 538,
                "rounds": 270,
                "pending": 4,
                "gap": 0.0,
                "state": "b8adfa7c7c6cf47e",
                "complaints": [],
                "clean": True,
            }
        ],
    )

    clean: bool
    problems: list[Finding]


class Estimate(BaseModel):
    """The mean of something; half the width of its 95 % confidence interval."""

    count: int
    mean: float | None
    variance: float | None
    half_width: float | None


class ArmSeen(BaseModel):
    """What became of the plays of an arm; losses are in [0, 1], whatever the units."""

    arm: str
    removed: bool
    decided: int
    told: int
    expired: int
    cancelled: int
    loss: Estimate
    delay_rounds: Estimate
    delay_seconds: Estimate


class Trail(BaseModel):
    """The weights of all arms there ever were, in some rounds."""

    round: list[int]
    at: list[float]
    weights: list[list[float]]


class Happened(BaseModel):
    """One of the last events; the value is a probability or a loss."""

    at: float
    kind: str
    ticket: str
    arm: str | None
    value: float | None


class Waiting(BaseModel):
    """How many tickets wait, by arm and age, the youngest first; experts are under ""."""

    age_seconds: list[float]
    by_arm: dict[str, list[int]]
    oldest_seconds: dict[str, float]


class SightView(ProblemView):
    """A problem with all that can be seen of it."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [{**PROBLEM, **SEEN}]})

    at: float
    decisions_per_second: float
    decisions_of_last_minute: list[int]
    late_reports: int
    repeated_reports: int
    by_arm: list[ArmSeen]
    weights_over_time: Trail
    events: list[Happened]
    waiting: Waiting


class LogView(BaseModel):
    """The journal of a problem as a log; `arms` are those it began with."""

    model_config = example(
        arms=["red", "green"],
        columns=["round", "arm", "probability", "loss", "arrival"],
        rows=[[1, "green", 0.5, 0.2, 3]],
    )

    arms: list[str]
    columns: list[str]
    rows: list[list[Any]]
