"""What became of each record of an append: it was written, or an earlier record stands."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

import belated.service.store.queries as queries
from belated.service.store.records import (
    Decision,
    DecisionResult,
    NamedOutcome,
    NamedResult,
    Outcome,
    OutcomeResult,
)


def decision_results(
    connection: Connection, decisions: Sequence[Decision], written: Collection[int]
) -> list[DecisionResult]:
    """The decision that stands for each of these; `written` has the indices of the new ones."""
    if len(written) == len(decisions):
        return [DecisionResult(decision, True) for decision in decisions]
    keys = {
        (decision.problem, decision.key)
        for index, decision in enumerate(decisions)
        if index not in written and decision.key is not None
    }
    earlier = queries.decisions_by_key(connection, keys)
    results = []
    for index, decision in enumerate(decisions):
        if index in written:
            results.append(DecisionResult(decision, True))
        else:
            # Of another request of this key, which may have asked for fewer decisions.
            stands = earlier.get((decision.problem, decision.key))
            same = stands is not None and stands.digest == decision.digest
            results.append(DecisionResult(stands or decision, False, same))
    return results


def outcome_results(
    connection: Connection, outcomes: Sequence[Outcome], written: Collection[int]
) -> list[OutcomeResult]:
    """The outcome that stands for each of these; `written` has the indices of the new ones."""
    if len(written) == len(outcomes):
        return [OutcomeResult(outcome, True) for outcome in outcomes]
    others = {outcome.ticket for index, outcome in enumerate(outcomes) if index not in written}
    earlier = {
        (found.ticket, found.arm): found
        for of_ticket in queries.outcomes_of(connection, others).values()
        for found in of_ticket
        if isinstance(found, Outcome)
    }
    return [
        OutcomeResult(outcome, True)
        if index in written
        else OutcomeResult(earlier.get((outcome.ticket, outcome.arm)), False)
        for index, outcome in enumerate(outcomes)
    ]


def named_results(
    connection: Connection, named: Sequence[NamedOutcome], written: Collection[int]
) -> list[NamedResult]:
    """What became of each named outcome; `written` has the indices of the new ones."""
    others = {outcome.ticket for index, outcome in enumerate(named) if index not in written}
    records = queries.tickets(connection, others) if others else {}
    return [
        NamedResult(True) if index in written else NamedResult(False, records.get(outcome.ticket))
        for index, outcome in enumerate(named)
    ]
