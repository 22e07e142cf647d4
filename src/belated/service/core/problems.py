"""The specification of a problem: checked when it is created, and `ServedProblem` made from it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from belated.asktell.held_rounds import HeldRounds
from belated.asktell.learner_options import kind_named, may_declare_silence, plain_options
from belated.asktell.options import DOUBLING
from belated.asktell.shares import as_minimum_share
from belated.checks import LossRange, as_arms, as_count, as_number, as_range
from belated.learners.contract import Learner
from belated.learners.registry import learner_named, option_names
from belated.service.core.holdout import Holdout, checked_holdout, holdout_of
from belated.service.core.texts import ARM_NAME
from belated.service.outcomes.rules import OutcomeRule, checked_rule, rule_of
from belated.service.store import ProblemRecord
from belated.types import Need, Setting

DEFAULT_LEARNERS = {"bandit": "practical-bandit", "experts": "practical-experts"}
FIELDS = (
    "kind", "arms", "learner", "options", "loss_range", "expire_after", "expire_seconds",
    "default_loss", "holdout", "outcomes", "soft_range", "minimum_share",
)  # fmt: skip
OPTIONAL = ("holdout", "outcomes", "soft_range", "minimum_share")  # need not be in a specification
OF_LEARNER = ("features", "hash_bits")  # options of learners that may be given as fields
# An option that problems made before it existed do not name; they rest on max_missing.
CHOSEN_LATER = "gamma_bound"
AGES = "ages"  # the option of what the ages of plays are counted in; the service knows the time
# Options that were dropped with the learner that had them, whose name another learner has now.
GONE_OPTIONS = {"practical-bandit": ("rate", "width", "checks", "patience", "levels", "listens")}
MOST_ARMS = 10_000
MOST_SECONDS = 1e10


@dataclass(frozen=True)
class ServedProblem:
    """A problem in use: its arms, its learner, the range of its losses, and when tickets expire.

    A ticket without an outcome after `expire_after` rounds or `expire_seconds` counts as told with
    `default_loss`, which here is already a loss in [0, 1].
    """

    name: str
    arms: tuple[str, ...]
    learner: Learner
    loss_range: LossRange
    expire_after: int | None
    expire_seconds: float | None
    default_loss: float | None
    spec: Mapping[str, Any]
    at: float
    generation: int = 1
    holdout: Holdout | None = None
    outcomes: OutcomeRule | None = None
    is_soft: bool = False  # whether losses and rewards out of the range are clipped
    minimum_share: float = 0.0

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each arm."""
        return {arm: place for place, arm in enumerate(self.arms)}

    @cached_property
    def is_bandit(self) -> bool:
        """Whether one arm is played in a round, and only its loss is told."""
        return self.learner.setting is not Setting.FULL_INFORMATION

    @cached_property
    def takes_context(self) -> bool:
        """Whether the learner takes a context with each ask."""
        return self.learner.takes_context

    @cached_property
    def takes_actions(self) -> bool:
        """Whether the learner takes features of the arms with each ask."""
        return self.learner.takes_actions

    @cached_property
    def tells_missing(self) -> bool:
        """Whether the missing count must be told with each loss."""
        return self.learner.setting is Setting.PARTIALLY_CONCEALED

    @cached_property
    def expires(self) -> bool:
        """Whether tickets expire."""
        return self.expire_after is not None or self.expire_seconds is not None


def served(problem: ProblemRecord) -> ServedProblem:
    """The problem in use that a record of the store describes; ValueError if it cannot be used."""
    spec = problem.spec
    lacking = [field for field in FIELDS[1:] if field not in spec and field not in OPTIONAL]
    if lacking or problem.fault:
        raise ValueError(problem.fault or f"its specification lacks {', '.join(lacking)}")
    if not all(isinstance(arm, str) for arm in spec["arms"]):
        raise ValueError(f"its arms are {spec['arms']!r}; they must be names")
    bounds = as_range(spec["loss_range"])
    kind, options = learner_named(spec["learner"]), dict(spec["options"])
    expiry = checked_expiry(spec, kind, bounds)
    default = expiry["default_loss"]
    if CHOSEN_LATER in option_names(kind):
        options.setdefault(CHOSEN_LATER, "max_missing")
    options = {name: options[name] for name in options if name not in gone_options(spec)}
    loss = None if default is None else bounds.loss(default, "default_loss")
    if may_declare_silence(kind):
        options["default_loss"] = loss
    return ServedProblem(
        name=problem.name,
        arms=tuple(spec["arms"]),
        learner=kind(len(spec["arms"]), **options),
        loss_range=bounds,
        expire_after=expiry["expire_after"],
        expire_seconds=expiry["expire_seconds"],
        default_loss=loss,
        spec=spec,
        at=problem.at,
        generation=problem.generation,
        holdout=holdout_of(spec),
        outcomes=rule_of(spec),
        is_soft=spec.get("soft_range") is not None or spec.get("outcomes") is not None,
        minimum_share=spec.get("minimum_share", 0.0),
    )


def gone_options(spec: Mapping[str, Any]) -> list[str]:
    """The options in a stored specification that its learner had once, and has no more."""
    learner, options = str(spec.get("learner")), spec.get("options") or {}
    gone = next((gone for name, gone in GONE_OPTIONS.items() if learner.endswith(name)), ())
    return [option for option in gone if option in options]


def with_arms(problem: ServedProblem, arms: Sequence[str]) -> ServedProblem:
    """A copy of a problem with other arms."""
    return with_spec(problem, {**problem.spec, "arms": list(arms)})


def with_terms(problem: ServedProblem, terms: Mapping[str, Any]) -> ServedProblem:
    """A copy of a problem whose tickets expire otherwise."""
    return with_spec(problem, {**problem.spec, **terms})


def with_spec(problem: ServedProblem, spec: Mapping[str, Any]) -> ServedProblem:
    """A copy of a problem with another specification."""
    return served(ProblemRecord(problem.name, spec, problem.at, None, problem.generation))


def checked_spec(given: Mapping[str, Any]) -> dict[str, Any]:
    """A complete specification from what the user gave; ValueError if it cannot be served."""
    for field in given:
        if field not in (*FIELDS, *OF_LEARNER):
            raise ValueError(f"{field!r} is no part of a problem; it has {', '.join(FIELDS)}")
    arms = checked_arms(given.get("arms"))
    kind = learner_kind(given.get("kind"), given.get("learner"))
    check_kind(kind)
    options = checked_options(kind, arms, with_fields(given))
    if AGES in option_names(kind):
        options.setdefault(AGES, "seconds")
    learner = kind(len(arms), **options)
    check_delivery(learner)
    if CHOSEN_LATER in option_names(kind):
        options[CHOSEN_LATER] = getattr(learner, CHOSEN_LATER)
    bounds, soft = checked_ranges(given.get("loss_range"), given.get("soft_range"))
    spec = {
        "kind": "experts" if kind.setting is Setting.FULL_INFORMATION else "bandit",
        "arms": list(arms),
        "learner": kind.name,
        "options": options,
        "loss_range": [bounds.low, bounds.high],
    }
    is_bandit = spec["kind"] == "bandit"
    held = checked_holdout(given.get("holdout"), arms, is_bandit)
    tells_one_loss = is_bandit and kind.setting is not Setting.PARTIALLY_CONCEALED
    rule = checked_rule(given.get("outcomes"), tells_one_loss)
    least = checked_minimum_share(given.get("minimum_share"), arms, is_bandit)
    return {**spec, **checked_expiry(given, kind, bounds), **held, **rule, **soft, **least}


def checked_ranges(hard: Any, soft: Any) -> tuple[LossRange, dict[str, Any]]:
    """The range of a problem's losses, and the field of a specification if it is a soft one.

    Out of a soft range losses and rewards are clipped for the learner.
    """
    if soft is None:
        return as_range(hard or (0.0, 1.0)), {}
    if hard is not None:
        raise ValueError(
            f"loss_range is {hard!r} and soft_range is {soft!r}; give one of the two, a soft_range "
            "if rewards may lie outside of it"
        )
    bounds = as_range(soft)
    return bounds, {"soft_range": [bounds.low, bounds.high]}


def with_fields(given: Mapping[str, Any]) -> Any:
    """The options of a learner, with those that were given as fields of the problem."""
    options, fields = given.get("options") or {}, {}
    for name in OF_LEARNER:
        if given.get(name) is not None:
            fields[name] = given[name]
    if not fields or not isinstance(options, Mapping):
        return options
    twice = [name for name in fields if name in options]
    if twice:
        raise ValueError(f"{twice[0]} is given twice; give it as a field or as an option")
    return {**options, **fields}


def checked_minimum_share(
    given: float | None, arms: Sequence[str], is_bandit: bool
) -> dict[str, Any]:
    """The field of a specification with the least probability of an arm, or none."""
    if given is None:
        return {}
    if not is_bandit:
        raise ValueError("minimum_share is given for experts, who draw no arm; leave it out")
    return {"minimum_share": as_minimum_share(given, len(arms))}


def checked_arms(arms: Any) -> tuple[str, ...]:
    """The names of arms, which must be printable and distinct; ValueError otherwise."""
    if not isinstance(arms, Sequence) or isinstance(arms, str):
        raise ValueError(f"arms is {arms!r}; it must be a list of names")
    for arm in arms:
        if not isinstance(arm, str):
            raise ValueError(f"arm is {arm!r}; it must be {ARM_NAME.must}")
        ARM_NAME.checked(arm)
    if len(arms) > MOST_ARMS:
        raise ValueError(f"there are {len(arms)} arms; there must be from 1 to {MOST_ARMS}")
    as_arms(arms)
    return tuple(arms)


def learner_kind(kind: str | None, learner: str | None) -> type[Learner]:
    """The class of the named learner, or of the default learner for this kind of problem."""
    if kind is not None and kind not in DEFAULT_LEARNERS:
        raise ValueError(f"kind is {kind!r}; it must be one of {', '.join(DEFAULT_LEARNERS)}")
    if kind is not None:
        return kind_named(learner or DEFAULT_LEARNERS[kind], bandit=kind == "bandit")
    return learner_named(learner or DEFAULT_LEARNERS["bandit"])


def checked_options(
    kind: type[Learner], arms: tuple[str, ...], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The complete options of a learner; ValueError if one that it needs is not given."""
    if not isinstance(given, Mapping):
        raise ValueError(f"options is {given!r}; it must be names with values")
    for name, value in given.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} is {value!r}; it must be finite")
    if may_declare_silence(kind) and "default_loss" in given:
        raise ValueError(
            "default_loss is given as an option of the learner; give it as a field of the problem, "
            "in the units of its losses"
        )
    options = plain_options(kind, arms, given, None)
    lacking = [
        need.value
        for need in (Need.HORIZON, Need.MAX_MISSING)
        if need in kind.needs_with(given) and options[need.value] in (None, DOUBLING)
    ]
    if lacking:
        raise ValueError(
            f"{kind.name} must know {' and '.join(lacking)}, which the service cannot find out; "
            f"give {' and '.join(lacking)}, or take a learner that does without, such as "
            f"{DEFAULT_LEARNERS['bandit']}"
        )
    return options


def check_kind(kind: type[Learner]) -> None:
    """Refuse learners that must know each delay in advance."""
    if Need.DELAY_AT_DECISION in kind.needs:
        raise ValueError(
            f"learner is {kind.name!r}, which must know each delay as soon as the arm is drawn; "
            "the service learns it only when the loss comes, so take another learner"
        )


def check_delivery(learner: Learner) -> None:
    """Refuse learners that hold losses back instead of learning from each when it arrives.

    Those that weigh policies are refused as well: no one tells the service what these advise.
    """
    if learner.takes_advice:
        raise ValueError(
            f"learner is {learner.name!r} with policies; the service takes no advice, so leave "
            "policies out, or use belated.Bandit"
        )
    if HeldRounds.for_learner(learner) is not None:
        how = f"delivery={learner.delivery!r}" if learner.window is None else "a window"
        raise ValueError(
            f"learner is {learner.name!r} with {how}; the service tells each loss when it arrives, "
            "so take a learner with delivery='own' and no window"
        )


def checked_expiry(
    given: Mapping[str, Any], kind: type[Learner], bounds: LossRange
) -> dict[str, Any]:
    """The fields about expiry: after how many rounds or seconds, and with which loss.

    A learner that asks what silence means can be told the loss without the others.
    """
    rounds, seconds = given.get("expire_after"), given.get("expire_seconds")
    default = given.get("default_loss")
    if rounds is not None:
        rounds = as_count(rounds, "expire_after", 0)
    if seconds is not None:
        seconds = as_number(seconds, "expire_seconds")
        if not 0.0 <= seconds <= MOST_SECONDS:
            raise ValueError(f"expire_seconds is {seconds!r}; it must be from 0 to {MOST_SECONDS}")
    expires = rounds is not None or seconds is not None
    terms = (
        f"expire_after is {rounds!r}, expire_seconds is {seconds!r}, default_loss is {default!r}"
    )
    if expires and default is None:
        raise ValueError(f"{terms}; a play that expires needs a default_loss")
    if default is not None and not expires and not may_declare_silence(kind):
        raise ValueError(
            f"{terms}; plays do not expire and {kind.name} does not ask what silence means, so "
            "leave default_loss out"
        )
    if default is not None:
        default = as_number(default, "default_loss")
        bounds.loss(default, "default_loss")
    return {"expire_after": rounds, "expire_seconds": seconds, "default_loss": default}
