"""The requests that clients send, and how the answers are read; `clients` sends them."""

import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, SupportsFloat, TypeVar
from urllib.parse import quote, urlencode

from belated.checks import as_number
from belated.client.errors import ServiceError, error_of
from belated.client.models import Problem, Report, TicketDetails, read_feedback, read_ticket
from belated.types import Feedback, Ticket

T = TypeVar("T")
Keep = Literal["keep"]
Range = Literal["hour", "day", "week", "all"]
ALL = "?all=true"  # asks for the probabilities of all arms
FOLDING = 3600.0  # seconds that reading or folding a whole journal may take


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, and how its answer is read.

    `repeatable` says that sending it twice has the same effect as once. `seconds` is a lower limit
    on the time that the service is given to answer, whatever the client's timeout and patience.
    """

    method: str
    path: str
    read: Callable[[Any], T]
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    seconds: float = 0.0
    ticket: str | None = None
    cancelling: bool = False
    is_text: bool = False  # the answer is plain text, not JSON

    def answered(self, status: int, text: bytes, request_id: str | None) -> T:
        """The result of an answer; the error that it stands for is raised."""
        is_well = 200 <= status < 300
        if is_well and self.is_text:
            return self.read(text.decode())
        try:
            body = json.loads(text)
        except ValueError:
            body = None
        if is_well and body is not None:
            return self.read(body)
        details = body if isinstance(body, dict) else {}
        if is_well:
            raise ServiceError(f"the service answered {status} without JSON", status, request_id)
        if self.ticket is not None:
            details = {**details, "ticket": self.ticket}
        raise error_of(status, details, request_id, cancelling=self.cancelling)


def create_problem(
    name: str,
    arms: Sequence[str],
    *,
    kind: Literal["bandit", "experts"] | None = None,
    learner: str | None = None,
    options: Mapping[str, Any] | None = None,
    loss_range: tuple[float, float] | None = None,
    expire_after: int | None = None,
    expire_seconds: float | None = None,
    default_loss: float | None = None,
    holdout: Mapping[str, Any] | None = None,
    outcomes: Mapping[str, Any] | None = None,
    soft_range: tuple[float, float] | None = None,
    minimum_share: float | None = None,
    features: int | Sequence[str] | Mapping[str, str | Sequence[Any]] | None = None,
    hash_bits: int | None = None,
) -> Call[Problem]:
    """Create a problem. The request is not repeated if the service may have received it.

    The page on the decision service describes the terms. `features` and `hash_bits` are for
    learners with contexts, as in `belated.Bandit`.
    """
    body = {
        "name": name,
        "arms": list(arms),
        "kind": kind,
        "learner": learner,
        "options": None if options is None else dict(options),
        "loss_range": None if loss_range is None else list(loss_range),
        "expire_after": expire_after,
        "expire_seconds": expire_seconds,
        "default_loss": default_loss,
        "holdout": None if holdout is None else dict(holdout),
        "outcomes": None if outcomes is None else dict(outcomes),
        "soft_range": None if soft_range is None else list(soft_range),
        "minimum_share": minimum_share,
        "features": features,
        "hash_bits": hash_bits,
    }
    return Call("POST", "/v1/problems", Problem.read, given(body), repeatable=False)


def problems(*, archived: bool = False) -> Call[list[Problem]]:
    """Return all problems that the key may see; archived ones only with `archived=True`."""
    path = "/v1/problems?archived=true" if archived else "/v1/problems"
    return Call("GET", path, lambda body: [Problem.read(each) for each in body["problems"]])


def problem(name: str) -> Call[Problem]:
    """Return a problem: its specification, status, round, open tickets and weights."""
    return Call("GET", path_of(name), Problem.read)


def change_arms(
    name: str, *, add: Sequence[str] = (), remove: Sequence[str] = ()
) -> Call[tuple[str, ...]]:
    """Add arms to a problem, remove others, and return the new arms."""
    return Call(
        "POST",
        f"{path_of(name)}/arms",
        lambda body: tuple(body["arms"]),
        {"add": list(add), "remove": list(remove)},
    )


def change_terms(
    name: str,
    *,
    expire_after: int | Keep | None = "keep",
    expire_seconds: float | Keep | None = "keep",
    default_loss: float | Keep | None = "keep",
) -> Call[Problem]:
    """Change when tickets of a problem expire, and with which loss; None removes a term.

    A new deadline applies to new decisions, a new default loss to plays that expire from now on.
    """
    terms = {
        "expire_after": expire_after,
        "expire_seconds": expire_seconds,
        "default_loss": default_loss,
    }
    body = {term: value for term, value in terms.items() if value != "keep"}
    return Call("PATCH", path_of(name), Problem.read, body)


def ask(
    problem: str,
    *,
    context: Mapping[str, Any] | None = None,
    arms: Sequence[str] | None = None,
    actions: Mapping[str, Mapping[str, Any] | None] | None = None,
    all_probabilities: bool = False,
    key: str | None = None,
) -> Call[Ticket]:
    """Make a decision. The same `key` gets the same decision again; without one, each call is new.

    `context` is what is known about this round, for a learner with contexts. Only `arms` may be
    drawn, or all if it is None. `actions` has the features of arms by name, for `linear-shared`.
    With `all_probabilities` the ticket has the probability of each of them.
    """
    among = None if arms is None else list(arms)
    body = given({"context": context, "arms": among, "actions": actions})
    path = f"{path_of(problem)}/ask{ALL if all_probabilities else ''}"
    return Call("POST", path, asked(context), body or None, keyed(key))


def ask_batch(
    problem: str,
    count: int | None = None,
    *,
    contexts: Sequence[Mapping[str, Any] | None] | None = None,
    arms: Sequence[str] | None = None,
    actions: Mapping[str, Mapping[str, Any] | None] | None = None,
    all_probabilities: bool = False,
    key: str | None = None,
) -> Call[list[Ticket]]:
    """Make several decisions: `count` of them, or one for each of `contexts`."""
    each = None if contexts is None else list(contexts)
    among = None if arms is None else list(arms)
    return Call(
        "POST",
        f"{path_of(problem)}/ask:batch{ALL if all_probabilities else ''}",
        lambda body: [
            asked(context)(view)
            for view, context in zip(
                body["decisions"], each or [None] * len(body["decisions"]), strict=True
            )
        ],
        given({"count": count, "contexts": each, "arms": among, "actions": actions}),
        keyed(key),
    )


def asked(context: Mapping[str, Any] | None) -> Callable[[Mapping[str, Any]], Ticket]:
    """How the answer to an ask with a context is read: the ticket has the context, too."""
    return lambda view: read_ticket(view)._replace(context=context)


def tell(
    ticket: Ticket | str,
    loss: SupportsFloat | None = None,
    *,
    reward: SupportsFloat | None = None,
    missing: int | None = None,
    arm: str | None = None,
    outcome: str | None = None,
    revision: int | None = None,
) -> Call[Feedback]:
    """Report the loss or the reward of a ticket; a report of experts names the `arm`.

    `counted` of the result may be False if an earlier attempt of the same report has counted.
    `outcome` names one of several outcomes of the ticket, of which the highest `revision` counts.
    """
    report = body_of(Report(ticket, loss, reward, missing, arm, outcome, revision))
    name = report.pop("ticket")
    return Call("POST", f"{path_to(name)}/tell", read_feedback, report, ticket=name)


def tell_batch(reports: Sequence[Report]) -> Call[list[Feedback | Exception]]:
    """Report on several decisions; return the feedback of each, or the error of `tell`."""
    bodies = [body_of(report) for report in reports]
    return Call(
        "POST",
        "/v1/tell:batch",
        lambda body: [
            read_feedback(each) if "counted" in each and "status" not in each else refused(each)
            for each in body["results"]
        ],
        {"reports": bodies},
    )


def cancel(ticket: Ticket | str) -> Call[Feedback]:
    """Close a ticket whose decision was not used. Nothing is learned from it."""
    name = id_of(ticket)
    return Call("POST", f"{path_to(name)}/cancel", read_feedback, ticket=name, cancelling=True)


def ticket(ticket: Ticket | str) -> Call[TicketDetails]:
    """Return a ticket: its decision, its state, its outcomes and its late reports."""
    name = id_of(ticket)
    return Call("GET", path_to(name), TicketDetails.read, ticket=name)


def pause(name: str) -> Call[str]:
    """Stop the decisions of a problem until it is resumed; return its status."""
    return Call("POST", f"{path_of(name)}/pause", read_status)


def resume(name: str) -> Call[str]:
    """Allow decisions of a paused problem again; return its status."""
    return Call("POST", f"{path_of(name)}/resume", read_status)


def archive(name: str) -> Call[str]:
    """Stop the decisions of a problem permanently; return its status."""
    return Call("POST", f"{path_of(name)}/archive", read_status)


def delete_problem(name: str) -> Call[str]:
    """Delete an archived problem with all its rows, permanently; return its status.

    Sent again after an answer that was lost, it raises UnknownProblemError.
    """
    return Call("DELETE", path_of(name), read_status)


def forget(
    name: str,
    *,
    ticket: Ticket | str | None = None,
    older_than: float | None = None,
    contexts: bool = False,
) -> Call[int]:
    """Blank the idempotency key of a decision, or of all older than `older_than` seconds.

    With `contexts` their contexts are blanked, too. Return the number of decisions concerned.
    """
    meant = {"ticket": None if ticket is None else id_of(ticket), "older_than": older_than}
    body = given({**meant, "contexts": contexts or None})
    path = f"{path_of(name)}/forget"
    return Call("POST", path, lambda found: int(found["forgotten"]), body, seconds=FOLDING)


def stats(name: str, *, range: Range = "all") -> Call[dict[str, Any]]:
    """Return the statistics of a problem: losses and delays by arm, weights over time, events.

    `range` selects the time of the decisions for `range` and `weights_over_time` of the result.
    """
    return Call("GET", f"{path_of(name)}/stats?range={range}", dict)


def moves(name: str, *, range: Range = "all") -> Call[dict[str, Any]]:
    """Return the largest changes of the weights in a range of time, and what happened then."""
    return Call("GET", f"{path_of(name)}/moves?range={range}", dict)


def beliefs(name: str) -> Call[dict[str, Any]]:
    """Return what a learner with contexts believes about each feature; else `arms` is None."""
    return Call("GET", f"{path_of(name)}/beliefs", dict)


def log(name: str) -> Call[dict[str, Any]]:
    """Return the journal of a problem: its first arms, `columns` and `rows`."""
    return Call("GET", f"{path_of(name)}/log", dict, seconds=FOLDING)


def uplift(
    name: str, *, within: float | None = None, by: str | None = None
) -> Call[dict[str, Any]]:
    """Return how much more the learner earns than the control, with its interval.

    If tickets do not expire, a decision without a report is final after `within` seconds, a week by
    default. `by` is a field of the context, for the uplift of each segment.
    """
    seconds = None if within is None else as_number(within, "within")
    query = urlencode(given({"within": seconds, "by": by}))
    path = f"{path_of(name)}/uplift"
    return Call("GET", f"{path}?{query}" if query else path, dict, seconds=FOLDING)


def verify() -> Call[dict[str, Any]]:
    """Compute all states from the journal again, and compare them with those in use."""
    return Call("POST", "/v1/verify", dict, seconds=FOLDING)


def health() -> Call[dict[str, Any]]:
    """Return the status, the version and the database of the service."""
    return Call("GET", "/healthz", dict)


def readiness() -> Call[dict[str, Any]]:
    """Return whether the service is ready; raise ServiceUnavailable if it is not."""
    return Call("GET", "/readyz", dict)


def metrics() -> Call[str]:
    """Return the metrics for Prometheus, as text."""
    return Call("GET", "/metrics", str, is_text=True)


def create_key(label: str, scopes: Sequence[str]) -> Call[dict[str, Any]]:
    """Create an API key, which is shown only once; the request is not repeated."""
    body = {"label": label, "scopes": list(scopes)}
    return Call("POST", "/v1/keys", dict, body, repeatable=False)


def keys() -> Call[list[dict[str, Any]]]:
    """Return all API keys without their secrets, including revoked ones."""
    return Call("GET", "/v1/keys", lambda body: list(body["keys"]))


def revoke_key(id: str, *, forget: bool = False) -> Call[dict[str, Any]]:
    """Revoke the API key with this id; `forget=True` blanks its label, too."""
    path = f"/v1/keys/{quote(id, safe='')}"
    return Call("DELETE", f"{path}?forget=true" if forget else path, dict)


def read_status(view: Mapping[str, Any]) -> str:
    """The status in an answer about a problem."""
    return str(view["status"])


def refused(details: Mapping[str, Any]) -> Exception:
    """The error for a report of a batch that was refused."""
    return error_of(int(details["status"]), details, None)


def id_of(ticket: Ticket | str) -> str:
    """The id of a ticket."""
    return ticket.id if isinstance(ticket, Ticket) else ticket


def body_of(report: Report) -> dict[str, Any]:
    """The body of a report."""
    numbers = {
        name: None if value is None else as_number(value, name)
        for name, value in (("loss", report.loss), ("reward", report.reward))
    }
    return given({**report._asdict(), **numbers, "ticket": id_of(report.ticket)})


def given(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body without the fields that are None."""
    return {name: value for name, value in body.items() if value is not None}


def keyed(key: str | None) -> dict[str, str]:
    """The header with the idempotency key: repeated requests get the same decision."""
    return {"Idempotency-Key": new_key() if key is None else key}


def new_key() -> str:
    """A new key with 80 random bits; keys rise with time, which keeps the store's index fast."""
    return f"{time.time_ns() // 1_000_000:012x}{secrets.token_hex(10)}"


def path_of(problem: str) -> str:
    """The path of a problem."""
    return f"/v1/problems/{quote(problem, safe='')}"


def path_to(ticket: str) -> str:
    """The path of a ticket."""
    return f"/v1/tickets/{quote(ticket, safe='')}"
