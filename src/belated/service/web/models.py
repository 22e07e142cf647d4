"""The wire forms of requests and answers (`...Body`), as the OpenAPI document shows them."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from belated.service.core.errors import InvalidRequestError
from belated.service.core.holdout import LEAST_SHARE
from belated.service.core.problems import MOST_ARMS
from belated.service.core.texts import ARM_NAME, LABEL
from belated.service.outcomes.rules import MOST_REVISION

MOST_AT_ONCE = 1000
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
ArmName = Annotated[str, AfterValidator(ARM_NAME.checked), WithJsonSchema(ARM_NAME.schema)]
Label = Annotated[str, AfterValidator(LABEL.checked), WithJsonSchema(LABEL.schema)]
Count = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
Context = dict[str, Any]
Actions = dict[str, Context | None]
OF_ACTIONS = "The features of arms by name, for linear-shared; only these arms may be drawn."
TicketState = Literal["pending", "told", "expired", "cancelled"]
Cohort = Literal["treatment", "control"]
Status = Literal["active", "paused", "archived"]


def example(**fields: Any) -> ConfigDict:
    """The configuration of a model with an example of it."""
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
    "holdout": None,
    "outcomes": None,
    "soft_range": None,
    "minimum_share": None,
    "created": 1760000000.0,
    "round": 2,
    "pending": 1,
    "weights": {"red": 0.39, "green": 0.61},
    "concern": None,
}


class RequestBody(BaseModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class HoldoutBody(RequestBody):
    """The share of decisions that a control draws, and its arm, or its weights by arm.

    Without either it draws uniformly.
    """

    share: Annotated[Number, Field(ge=LEAST_SHARE, le=1 - LEAST_SHARE)]
    arm: ArmName | None = None
    weights: dict[str, Number] | None = None


class OutcomesBody(RequestBody):
    """The outcomes that a ticket may have, and the rule that makes one reward of them.

    The learner is told it `revise_within` seconds after the first outcome of the ticket.
    """

    names: list[str]
    rule: Literal["first", "last", "sum", "max", "weighted"]
    weights: dict[str, Number] | None = Field(None, description="Of each name, if weighted.")
    revise_within: Number


class NewProblemBody(RequestBody):
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
                {
                    "name": "shop",
                    "arms": ["red", "green"],
                    "soft_range": [0, 100],
                    "outcomes": {
                        "names": ["sale", "refund"],
                        "rule": "sum",
                        "revise_within": 604800,
                    },
                },
                {
                    "name": "banner",
                    "arms": ["red", "green"],
                    "learner": "linear",
                    "features": {"age": "number", "device": ["phone", "desktop"]},
                    "expire_seconds": 604800,
                    "default_loss": 1,
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
    default_loss: Number | None = Field(
        None,
        description="The loss of a play that is given up; for practical-bandit, also without "
        "expiry, of one that never reports.",
    )
    holdout: HoldoutBody | None = Field(
        None, description="Bandits: a share of decisions that a control draws, for comparison."
    )
    outcomes: OutcomesBody | None = Field(
        None, description="Bandits: several named outcomes for one ticket."
    )
    soft_range: tuple[Number, Number] | None = Field(
        None, description="Instead of loss_range: what lies out of it is clipped for the learner."
    )
    minimum_share: Number | None = Field(
        None,
        description="Bandits: the least probability of an arm, but in a holdout.",
    )
    features: Any = Field(
        None,
        description="Learners with contexts: how many numbers, or names, or kinds by name: "
        '"number", "optional number" or a list of categories. Without it names are hashed.',
    )
    hash_bits: Count | None = Field(
        None, description="Learners with contexts: text is hashed into 2^hash_bits coordinates."
    )


class ProblemBody(BaseModel):
    """A problem: its specification, status, round, open tickets and weights."""

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
    holdout: HoldoutBody | None = None
    outcomes: OutcomesBody | None = None
    soft_range: list[float] | None = None
    minimum_share: float | None = None
    created: float
    round: int
    pending: int
    weights: dict[str, float]
    concern: str | None = Field(None, description="What you should change about it, if anything.")


class BrokenProblemBody(BaseModel):
    """A problem that cannot be served, and why."""

    model_config = example(name="old", reason="row 12 of the journal cannot be folded: KeyError")

    name: str
    reason: str


class ProblemListBody(BaseModel):
    """All problems that the key allows to see; `broken` has those that cannot be served."""

    problems: list[ProblemBody]
    broken: list[BrokenProblemBody]
    scopes: list[str] = Field(description="What the key allows, such as ask:ads or admin:*.")


class StatusBody(BaseModel):
    """A problem and its new status."""

    model_config = example(name="ads", status="paused")

    name: str
    status: Status


class DeletedBody(BaseModel):
    """A problem that was deleted."""

    model_config = example(name="ads", status="deleted")

    name: str
    status: Literal["deleted"]


class ChangeArmsBody(RequestBody):
    """Arms to be added and to be removed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"add": ["blue"], "remove": ["red"]}, {"add": ["blue"]}]}
    )

    add: list[ArmName] = Field(default=[], max_length=MOST_AT_ONCE)
    remove: list[ArmName] = Field(default=[], max_length=MOST_AT_ONCE)


class TermsBody(RequestBody):
    """When tickets expire, and with which loss; null takes a term away, what is left out stays."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"expire_seconds": 1209600}, {"expire_after": 500, "default_loss": 1}]
        }
    )

    expire_after: Count | None = None
    expire_seconds: Number | None = None
    default_loss: Number | None = None


class ForgetBody(RequestBody):
    """The decisions whose keys are to be blanked: one, or all older than so many seconds.

    With `contexts` their contexts are blanked, too.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"older_than": 2592000, "contexts": True},
                {"ticket": "06fq3k1zv8n9c5d2h7b4m0t6wx"},
            ]
        }
    )

    ticket: str | None = Field(default=None, max_length=200)
    older_than: Number | None = Field(default=None, ge=0, le=1e10)
    contexts: Annotated[bool, Field(strict=True)] = False


class ForgottenBody(BaseModel):
    """How many decisions had a key, or a context, that was blanked."""

    model_config = example(name="ads", forgotten=17)

    name: str
    forgotten: int


class ArmsBody(BaseModel):
    """A problem and its arms after a change."""

    model_config = example(name="ads", arms=["green", "blue"])

    name: str
    arms: list[str]


class AskBody(RequestBody):
    """What is known of a round, and the arms that may be drawn in it; by default all may."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"context": {"age": 31, "device": "phone"}, "arms": ["red", "green"]}]
        }
    )

    context: Context | None = Field(
        None, description="Values by name, or in the order of the features; for learners with it."
    )
    arms: list[ArmName] | None = Field(None, max_length=MOST_ARMS)
    actions: Actions | None = Field(None, description=OF_ACTIONS)


class AskBatchBody(RequestBody):
    """A request for several decisions: so many, or one for each context."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"count": 3}, {"contexts": [{"age": 31}, {"age": 60}], "arms": ["red"]}]
        }
    )

    count: Annotated[int, Field(strict=True, ge=1, le=MOST_AT_ONCE)] | None = None
    contexts: list[Context | None] | None = Field(None, min_length=1, max_length=MOST_AT_ONCE)
    arms: list[ArmName] | None = Field(None, max_length=MOST_ARMS)
    actions: Actions | None = Field(None, description=OF_ACTIONS)

    @property
    def number(self) -> int:
        """How many decisions are asked for; InvalidRequestError if that is not clear."""
        count = len(self.contexts) if self.contexts is not None else self.count
        if count is None or self.count not in (None, count):
            raise InvalidRequestError(
                f"count is {self.count!r} and there are {len(self.contexts or ())} contexts; give "
                "one of them"
            )
        return count


class DecisionBody(BaseModel):
    """A decision: a bandit's names the arm to play, an experts' decision weighs all of them."""

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
    cohort: Cohort | None = Field(None, description="Who drew the arm, if there is a holdout.")
    probabilities: dict[str, float] | None = Field(
        None, description="Of all arms that could be drawn, if `?all=true` asks for them."
    )


class DecisionBatchBody(BaseModel):
    """Several decisions."""

    decisions: list[DecisionBody]


class ReportBody(RequestBody):
    """A report on a decision: a loss or a reward."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"loss": 0.2},
                {"reward": 1},
                {"loss": 0.4, "arm": "gfs"},
                {"outcome": "sale", "reward": 12},
            ]
        }
    )

    loss: Number | None = None
    reward: Number | None = None
    missing: Count | None = Field(
        None, description="Partially concealed bandits: the missing losses of the arm when played."
    )
    arm: ArmName | None = Field(None, description="Experts: which of them this is about.")
    outcome: Annotated[str, Field(max_length=64)] | None = Field(
        None, description="Where a ticket has several outcomes: which of them this is."
    )
    revision: Annotated[int, Field(strict=True, ge=0, le=MOST_REVISION)] | None = Field(
        None, description="The highest revision of an outcome stands; 0 if none is given."
    )


class TicketReportBody(ReportBody):
    """A report on a decision, with its ticket."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"ticket": "06fq3k1zv8n9c5d2h7b4m0t6wx", "loss": 0.2}]}
    )

    ticket: str


class ReportBatchBody(RequestBody):
    """Several reports."""

    reports: list[TicketReportBody] = Field(min_length=1, max_length=MOST_AT_ONCE)


class ReportResultBody(BaseModel):
    """The result of a report: whether it counted, and the state of its ticket."""

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


class ReportResultBatchBody(BaseModel):
    """The results of several reports, in their order: each a result, or why it was refused."""

    results: list[ReportResultBody | ProblemDetails]


class LateReportBody(BaseModel):
    """What was reported of an arm after its ticket had expired; nothing is learned from it.

    `loss` is in the problem's units, `reward` is there if a reward was told, and `unit_loss` is the
    same loss in [0, 1].
    """

    arm: str
    loss: float | None
    reward: float | None
    unit_loss: float | None
    at: float


class LateOutcomeBody(LateReportBody):
    """What was reported too late; `outcome` is its name, if it has one."""

    outcome: str | None = None


class NamedOutcomeBody(BaseModel):
    """One of several outcomes of a ticket; it stands unless a higher revision replaces it."""

    outcome: str
    revision: int
    reward: float
    at: float
    stands: bool


class OutcomeBody(LateReportBody):
    """What became of an arm of a ticket; an expired one has the loss that it counts with."""

    kind: Literal["told", "expired", "cancelled"]


class TicketBody(BaseModel):
    """A ticket: its decision, its outcomes, and reports that came after it had expired."""

    model_config = example(
        ticket="06fq3k1zv8n9c5d2h7b4m0t6wx",
        problem="ads",
        round=17,
        arm="green",
        probability=0.61,
        weights=None,
        probabilities={"red": 0.39, "green": 0.61},
        context={"age": 31, "device": "phone"},
        at=1760000000.0,
        state="told",
        outcomes=[
            {"arm": "green", "kind": "told", "loss": 3.0, "reward": 12.0, "unit_loss": 0.2,
             "at": 1760000100.0}
        ],
        late=[],
    )  # fmt: skip

    ticket: str
    problem: str
    round: int
    arm: str | None
    probability: float | None
    weights: dict[str, float] | None
    cohort: Cohort | None = None
    probabilities: dict[str, float] | None = None
    context: Context | None = Field(
        None, description="What was known of the round; only for keys with the scope admin."
    )
    actions: Actions | None = Field(None, description="What was known of its arms; likewise.")
    at: float
    state: TicketState
    outcomes: list[OutcomeBody]
    named: list[NamedOutcomeBody] = Field([], description="As they came, with all revisions.")
    late: list[LateOutcomeBody]


class NewKeyBody(RequestBody):
    """A request for a new API key."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"label": "shop", "scopes": ["ask:ads", "tell:ads"]}]}
    )

    label: Label
    scopes: list[str] = Field(min_length=1, max_length=100)


KEY: dict[str, Any] = {
    "id": "0f3a5c7e9b1d",
    "label": "shop",
    "scopes": ["ask:ads", "tell:ads"],
    "created": 1760000000.0,
    "revoked": None,
}


class KeyBody(BaseModel):
    """An API key without its secret."""

    model_config = example(**KEY)

    id: str
    label: str
    scopes: list[str]
    created: float
    revoked: float | None


class MadeKeyBody(KeyBody):
    """A new API key; the key itself is shown this once."""

    model_config = example(**KEY, key="belated_" + "0" * 43)

    key: str


class KeyListBody(BaseModel):
    """All API keys."""

    keys: list[KeyBody]
