"""`evaluate`: what other policies would have earned, from a log with late and missing outcomes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from belated.arrays import Floats
from belated.checks import as_count, as_number
from belated.evaluation.bootstrap import DRAWS, Progress
from belated.evaluation.estimators import DEFAULTS, MEAN, REPLAY, Chosen, chosen_estimators
from belated.evaluation.intervals import LEVEL
from belated.evaluation.logs.journal import Journal
from belated.evaluation.logs.log_sources import read_log
from belated.evaluation.measuring import INTERVALS, Measured, Measuring, measured
from belated.evaluation.notes import notes_of
from belated.evaluation.policies import LOGGED, policy_table
from belated.evaluation.rejection import replayed
from belated.evaluation.result import Findings
from belated.evaluation.silence import MEANINGS, silence_correction, too_young
from belated.specs import listed

LEARNER = "learner:"


class Evaluation(Findings):
    """The estimated values of all policies on a log, by name as in `found["always red"]`."""

    def report(self, path: str | Path) -> Path:
        """Write an HTML page with the table and six figures; it needs no other file."""
        from belated.evaluation.page import write_evaluation

        return write_evaluation(self, path)


def evaluate(
    log: Any,
    policies: Mapping[str, Any],
    *,
    silence: str | None = None,
    default_loss: float | None = None,
    estimators: Sequence[str] = DEFAULTS,
    interval: str | None = None,
    stratum: str | None = None,
    level: float = LEVEL,
    draws: int = DRAWS,
    seed: int = 1,
    most_weight: float | None = None,
    rejection_limit: float | None = None,
    progress: Progress = lambda done, total: None,
    command: str = "",
    **terms: Any,
) -> Evaluation:
    """Estimate what each policy would have earned, from the decisions of a log.

    Args:
        log: a `Journal`, or anything that `read_log` reads.
        policies: by name. A policy is the name of an arm, "uniform", "best-arm", or "learner:NAME",
            which learns along the log. It may also be a function of the context that returns an
            arm or probabilities by arm, a classifier with `predict_proba`, a bandit of this
            library, or a table of probabilities.
        silence: why outcomes are missing: "missing" (they are late or lost, good and bad ones in
            the same way), "default" (an outcome that is never reported is `default_loss`) or
            "speeds" (all are reported, some later). Without it there are only bounds if outcomes
            are missing.
        default_loss: the loss that silence means; alone it implies "default".
        estimators: such as "snips" and "dr"; docs/evaluation.md describes all of them.
        interval: "bootstrap" (the default if outcomes are missing), "normal" (the default if not),
            "bernstein" or "betting".
        stratum: a column of the log or a name in its contexts; delays are fitted for each value.
        level: the confidence level of the intervals.
        draws: the number of bootstrap samples.
        seed: fixes all random numbers.
        most_weight: an upper bound on the weights, for "bernstein".
        rejection_limit: an upper bound on the ratio of probabilities, for "learner:NAME".
        progress: called with the number of bootstrap samples and their total.
        command: the command that reproduces the evaluation, for the report.
        terms: the options of `read_log`: `arms`, `loss_range`, `now`, `key`.

    Example:
        >>> log = {"arm": ["a", "b"] * 50, "probability": [0.5] * 100, "reward": [1, 0, 0, 1] * 25}
        >>> found = evaluate(log, {"always a": "a"})
        >>> value = found["always a"].snips
        >>> round(value.value, 2), round(value.low, 2), round(value.high, 2)
        (0.5, 0.36, 0.64)
    """
    journal = read_log(log, **terms)
    chosen = chosen_estimators(list(estimators) if not isinstance(estimators, str) else estimators)
    meaning, default = _meaning(journal, silence, default_loss)
    whole = bool(journal.told.all())
    way = interval or ("normal" if whole else "bootstrap")
    if way not in INTERVALS:
        raise ValueError(f"interval is {way!r}; it must be one of {listed(INTERVALS, way)}")
    if not 0.0 < as_number(level, "level") < 1.0:
        raise ValueError(f"level is {level!r}; it must be above 0 and below 1")
    if way in ("bernstein", "betting") and not journal.is_even:
        raise ValueError(
            f"interval is {way!r}, which is for rows that count equally, and the log has weights; "
            "use bootstrap or normal"
        )
    _check_policies(policies)
    _check_probabilities(journal, chosen, policies)
    random = np.random.default_rng(as_count(seed, "seed", 0))
    strata = None if stratum is None else journal.column(stratum)
    limit = _above_zero(rejection_limit, "rejection_limit")
    tables = _tables(journal, policies, random, default_loss, limit)
    young = [] if whole or meaning is None else too_young(journal, meaning, _used(journal, tables))
    correction = None
    if not whole and meaning is not None:
        correction = silence_correction(journal, meaning, default, strata)
    measuring = Measuring(
        journal=journal,
        chosen=chosen,
        correction=correction,
        says=whole or (meaning is not None and not young),
        way=way,
        level=level,
        draws=as_count(draws, "draws", 2),
        strata=strata,
        most_weight=_above_zero(most_weight, "most_weight"),
    )
    found = measured(measuring, tables, random, progress)
    return Evaluation(
        journal=journal,
        policies={each.name: each for each in found.policies if each.name != LOGGED},
        logged=next(each for each in found.policies if each.name == LOGGED),
        silence=meaning,
        default_loss=default_loss,
        interval=way,
        level=level,
        seed=seed,
        stratum=stratum,
        floored=found.floored,
        notes=notes_of(measuring, found, young, meaning),
        command=command,
        model=found.model,
    )


def _meaning(
    journal: Journal, silence: str | None, default_loss: float | None
) -> tuple[Any, float]:
    """Return what silence means, and the reward in [0, 1] that it is by default."""
    meaning = silence
    if meaning is None and default_loss is not None:
        meaning = "default"
    if meaning is not None and meaning not in MEANINGS:
        raise ValueError(f"silence is {meaning!r}; it must be one of {listed(MEANINGS, meaning)}")
    if meaning == "default" and default_loss is None:
        raise ValueError("silence is 'default'; then default_loss must say what silence stands for")
    if meaning != "default" and default_loss is not None:
        raise ValueError(f"silence is {meaning!r}; default_loss is for silence 'default' only")
    if default_loss is None:
        return meaning, 0.0
    return meaning, 1.0 - journal.units.loss(default_loss, "default_loss")


def _above_zero(given: float | None, name: str) -> float | None:
    """Return an option that is a number above 0, if it is given."""
    if given is not None and not as_number(given, name) > 0.0:
        raise ValueError(f"{name} is {given!r}; it must be above 0")
    return given


def _check_policies(policies: Mapping[str, Any]) -> None:
    if not isinstance(policies, Mapping) or not policies:
        raise ValueError(f"policies is {policies!r}; it must be a dict of policies by name")
    if LOGGED in policies:
        raise ValueError(f"a policy is named {LOGGED!r}; the log itself has that name")


def _check_probabilities(
    journal: Journal, chosen: Sequence[Chosen], policies: Mapping[str, Any]
) -> None:
    """Refuse to weigh rows whose probability is 0 or was not logged."""
    weighs = any(each.estimator.weighs for each in chosen)
    if not weighs and not any(_is_learner(policy) for policy in policies.values()):
        return
    wrong = np.flatnonzero(~(journal.probability > 0.0))
    if np.isnan(journal.probability).all():
        raise ValueError(
            "the log has no probabilities, which must be in a column probability, else use the "
            "estimator dm, which is a model and no measurement"
        )
    if wrong.size:
        value = journal.probability[wrong[0]]
        said = "absent" if np.isnan(value) else f"{value:g}"
        raise ValueError(
            f"the probability of row {wrong[0] + 1} is {said}; it must be above 0, else use "
            "the estimator dm, which is a model and no measurement"
        )


def _is_learner(policy: Any) -> bool:
    return isinstance(policy, str) and policy.startswith(LEARNER)


def _tables(
    journal: Journal,
    policies: Mapping[str, Any],
    random: np.random.Generator,
    default_loss: float | None,
    limit: float | None,
) -> list[Measured]:
    """Return the weights of the rows and the probabilities of the arms under each policy."""
    rows = np.arange(len(journal))
    found = [Measured(LOGGED, np.ones(len(journal)), None, MEAN)]
    unit = None if default_loss is None else journal.units.loss(default_loss)
    for name, policy in policies.items():
        if _is_learner(policy):
            spec = str(policy).removeprefix(LEARNER)
            run = replayed(spec, journal, random, limit=limit, default_loss=unit)
            found.append(Measured(name, run.weights, run.table, REPLAY))
            continue
        table = policy_table(policy, journal, name)
        with np.errstate(invalid="ignore", divide="ignore"):
            weights: Floats = table[rows, journal.chosen] / journal.probability
        found.append(Measured(name, weights, table))
    return found


def _used(journal: Journal, tables: Sequence[Measured]) -> Any:
    """Which arms any of the policies plays; the log itself plays all that it chose."""
    used = np.zeros(len(journal.arms), dtype=bool)
    for each in tables:
        used |= True if each.table is None else each.table.max(axis=0) > 0.0
    return used
