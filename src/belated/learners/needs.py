"""What learners must be told before the first round, as options to make them with.

A learner declares its needs (`Learner.needs`). Where the facts come from differs: from a game that
is known in full, from a log, from the workload of a benchmark, or from a guess.
"""

from collections.abc import Callable, Mapping
from typing import Any

from belated.learners.contract import Learner
from belated.types import Need

TOLD_BY_ROUND = (Need.DELAY_AT_DECISION, Need.ADVICE, Need.CONTEXT)


def needs_at_start(kind: type[Learner], given: Mapping[str, Any]) -> list[Need]:
    """What a learner with the given options must be told before it starts.

    Delays, advice and contexts are told when a round is played.
    """
    return [need for need in kind.needs_with(given) if need not in TOLD_BY_ROUND]


def needed_options(
    kind: type[Learner], fact: Callable[[Need], Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """The options that tell a learner what it needs, except those that are given already."""
    needs = [need for need in needs_at_start(kind, given) if need.value not in given]
    return {need.value: fact(need) for need in needs}
