"""What is answered for each record of a batch: itself if it was written, or what was there."""

from collections.abc import Collection, Sequence

from sqlalchemy import Connection

from belated.service.store import queries as reading
from belated.service.store.records import Decision, DecisionAnswer, Outcome, OutcomeAnswer


def decision_answers(
    connection: Connection, decisions: Sequence[Decision], placed: Collection[int]
) -> list[DecisionAnswer]:
    """The decisions that stand; `placed` are the indices of those that were written."""
    if len(placed) == len(decisions):
        return [DecisionAnswer(decision, True) for decision in decisions]
    keys = {
        (decision.problem, decision.key)
        for index, decision in enumerate(decisions)
        if index not in placed and decision.key is not None
    }
    earlier = reading.decisions_by_key(connection, keys)
    answers = []
    for index, decision in enumerate(decisions):
        if index in placed:
            answers.append(DecisionAnswer(decision, True))
        else:
            stands = earlier[decision.problem, decision.key]
            answers.append(DecisionAnswer(stands, False, stands.digest == decision.digest))
    return answers


def outcome_answers(
    connection: Connection, outcomes: Sequence[Outcome], counted: Collection[int]
) -> list[OutcomeAnswer]:
    """The outcomes that stand; `counted` are the indices of those that were written."""
    if len(counted) == len(outcomes):
        return [OutcomeAnswer(outcome, True) for outcome in outcomes]
    others = {outcome.ticket for index, outcome in enumerate(outcomes) if index not in counted}
    earlier = {
        (found.ticket, found.arm): found
        for of_ticket in reading.outcomes_of(connection, others).values()
        for found in of_ticket
    }
    return [
        OutcomeAnswer(outcome, True)
        if index in counted
        else OutcomeAnswer(earlier.get((outcome.ticket, outcome.arm)), False)
        for index, outcome in enumerate(outcomes)
    ]
