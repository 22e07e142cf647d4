"""The bodies of requests and answers, as the OpenAPI document shows them."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_AT_ONCE = 1000
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
TicketState = Literal["pending", "told", "expired", "cancelled"]
Status = Literal["active", "paused", "archived"]


def example(**fields: Any) -> ConfigDict:
    """What a model's settings are with an example of it."""
    return ConfigDict(json_schema_extra={"examples": [fields]})


PROBLEM: dict[str, Any] = {
    "name": "ads",
    "status": "active",
    "kind": "bandit",
    "arms": ["red", "green"],
    "learner": "practical-bandit",
    "options": {},
    "loss_range": [0.0, 1.0],
    "expire_after": None,
    "expire_seconds": None,
    "default_loss": None,
    "created": 1760000000.0,
    "round": 2,
    "pending": 1,
    "weights": {"red": 0.39, "green": 0.61},
}


class Body(BaseModel):
    """What is sent; anything it does not know is refused."""

    model_config = ConfigDict(extra="forbid")


class NewProblem(Body):
    """A problem to be created."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "ads", "arms": ["red", "green", "blue"]},
                {
                    "name": "prices",
                    "arms": ["9", "12", "15"],
                    "learner": "concealed",
                    "options": {"max_missing": 200, "variant": "repaired"},
                    "loss_range": [0, 15],
                    "expire_seconds": 604800,
                    "default_loss": 15,
                },
            ]
        }
    )

    name: str = Field(description="Letters, digits, dots, dashes and underscores; at most 64.")
    arms: list[str] = Field(description="The names of the arms, or of the experts.")
    kind: Literal["bandit", "experts"] | None = Field(
        None, description="A bandit plays one arm a round; experts are all told. As the learner is."
    )
    learner: str | None = Field(
        None, description="`belated learners` lists them; usually practical-bandit or -experts."
    )
    options: dict[str, Any] | None = Field(None, description="Those of the learner.")
    loss_range: tuple[Number, Number] | None = Field(
        None, description="The (low, high) that losses and rewards lie in; usually (0, 1)."
    )
    expire_after: Count | None = Field(None, description="Rounds after which a play is given up.")
    expire_seconds: Number | None = Field(None, description="Seconds after which it is given up.")
    default_loss: Number | None = Field(None, description="The loss of a play that is given up.")


class ProblemView(BaseModel):
    """A problem as it stands."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [PROBLEM]})

    name: str
    status: Status
    kind: Literal["bandit", "experts"]
    arms: list[str]
    learner: str
    options: dict[str, Any]
    loss_range: list[float]
    expire_after: int | None
    expire_seconds: float | None
    default_loss: float | None
    created: float
    round: int
    pending: int
    weights: dict[str, float]


class ProblemList(BaseModel):
    """All problems that the key may see."""

    problems: list[ProblemView]


class Changed(BaseModel):
    """A problem whose status was set."""

    model_config = example(name="ads", status="paused")

    name: str
    status: Status


class OtherArms(Body):
    """Arms to be added and to be removed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"add": ["blue"], "remove": ["red"]}, {"add": ["blue"]}]}
    )

    add: list[str] = Field(default=[], max_length=MOST_AT_ONCE)
    remove: list[str] = Field(default=[], max_length=MOST_AT_ONCE)


class Lineup(BaseModel):
    """A problem with its arms as they are from now on."""

    model_config = example(name="ads", arms=["green", "blue"])

    name: str
    arms: list[str]


class AskMany(Body):
    """Several decisions at once."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"count": 3}]})

    count: Annotated[int, Field(strict=True, ge=1, le=MOST_AT_ONCE)]


class Decided(BaseModel):
    """A decision: a bandit's names the arm to play, experts' weigh all of them."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "ticket": "06fq3k1zv8n9c5d2h7b4m0t6wx",
                    "round": 17,
                    "arm": "green",
                    "probability": 0.61,
                }
            ]
        }
    )

    ticket: str
    round: int
    arm: str | None = None
    probability: float | None = None
    weights: dict[str, float] | None = None


class DecidedMany(BaseModel):
    """Several decisions."""

    decisions: list[Decided]


class Told(Body):
    """What came of a decision: a loss or a reward."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"loss": 0.2}, {"reward": 1}, {"loss": 0.4, "arm": "gfs"}]}
    )

    loss: Number | None = None
    reward: Number | None = None
    missing: Count | None = Field(
        None, description="Partially concealed bandits: the missing losses of the arm when played."
    )
    arm: str | None = Field(None, description="Experts: which of them this is about.")


class ToldOf(Told):
    """The same with the ticket it is about."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"ticket": "06fq3k1zv8n9c5d2h7b4m0t6wx", "loss": 0.2}]}
    )

    ticket: str


class ToldMany(Body):
    """Several reports at once."""

    reports: list[ToldOf] = Field(min_length=1, max_length=MOST_AT_ONCE)


class Verdict(BaseModel):
    """What became of a report: counted or known before, and the state of its ticket."""

    model_config = example(ticket="06fq3k1zv8n9c5d2h7b4m0t6wx", counted=True, state="told")

    ticket: str
    counted: bool
    state: TicketState


class ProblemDetails(BaseModel):
    """Why a request was refused."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["urn:belated:conflict"])
    title: str
    status: int
    detail: str
    request_id: str | None = None


class VerdictMany(BaseModel):
    """What became of each report, in their order: a verdict, or why it was refused."""

    results: list[Verdict | ProblemDetails]


class TicketView(BaseModel):
    """A ticket: what was decided, and what came of it."""

    model_config = example(
        ticket="06fq3k1zv8n9c5d2h7b4m0t6wx",
        problem="ads",
        round=17,
        arm="green",
        probability=0.61,
        weights=None,
        at=1760000000.0,
        state="told",
        outcomes=[{"arm": "green", "kind": "told", "loss": 0.2, "at": 1760000100.0}],
    )

    ticket: str
    problem: str
    round: int
    arm: str | None
    probability: float | None
    weights: dict[str, float] | None
    at: float
    state: TicketState
    outcomes: list[dict[str, Any]]


class NewKey(Body):
    """An API key to be made."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "shop", "scopes": ["ask:ads", "tell:ads"]}]}
    )

    label: str = Field(max_length=200)
    scopes: list[str] = Field(min_length=1, max_length=100)


KEY: dict[str, Any] = {
    "id": "0f3a5c7e9b1d",
    "label": "shop",
    "scopes": ["ask:ads", "tell:ads"],
    "created": 1760000000.0,
    "revoked": None,
}


class KeyView(BaseModel):
    """An API key without its secret."""

    model_config = example(**KEY)

    id: str
    label: str
    scopes: list[str]
    created: float
    revoked: float | None


class MadeKey(KeyView):
    """A new API key; the key itself is shown this once."""

    model_config = example(**KEY, key="belated_" + "0" * 43)

    key: str


class KeyList(BaseModel):
    """All keys."""

    keys: list[KeyView]
