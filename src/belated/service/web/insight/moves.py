"""The route that says why the weights moved: the largest changes, and what happened meanwhile.

The weights are those that the replica keeps over time. What happened is read from the journal,
between two places that are found by bisection, and never more rows than `MOST_ROWS`.
"""

import time
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
from fastapi import APIRouter
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field

from belated.checks import LossRange
from belated.service.core.arms import ARMS, describe_change
from belated.service.core.replica import Replica
from belated.service.core.status import STATUS_AFTER
from belated.service.core.terms import TERMS, describe_terms
from belated.service.statistics.weight_moves import WeightMove, largest_moves
from belated.service.statistics.weights_over_time import shown_at
from belated.service.store import Note, Store
from belated.service.store.queries import Happened
from belated.service.web.dependencies import Caller, TheBridge, known_name
from belated.service.web.error_responses import BY_NAME
from belated.service.web.models import example
from belated.service.web.monitoring_models import InRange

router = APIRouter(prefix="/v1/problems", tags=["problems"])

MOST_ROWS = 20_000  # of the journal that are read for one move
MOST_ARMS = 12  # that are shown of a move
NOTED = (ARMS, TERMS, *STATUS_AFTER)


class ArmMoveBody(BaseModel):
    """An arm's weight before and after, and its outcomes meanwhile, in the problem's units."""

    arm: str
    before: float
    after: float
    told: int
    told_mean: float | None
    expired: int
    expired_mean: float | None
    usual_mean: float | None = Field(description="Of all outcomes of the arm, told or expired.")


class MoveNoteBody(BaseModel):
    """A change of the problem itself, such as an arm that was added."""

    at: float
    kind: str
    what: str


class MoveBody(BaseModel):
    """A piece of time in which the weights changed much, and what happened in it.

    `distance` is the share of the weight that went from some arms to others. If `complete` is
    false, the journal has so many rows of that time that only the first were read.
    """

    begin: float
    end: float
    first_round: int
    last_round: int
    distance: float
    complete: bool
    arms: list[ArmMoveBody]
    notes: list[MoveNoteBody]


class MovesBody(BaseModel):
    """The largest changes of the weights, the latest first."""

    model_config = example(
        moves=[
            {
                "begin": 1760000000.0, "end": 1760000600.0, "first_round": 1, "last_round": 80,
                "distance": 0.42, "complete": True,
                "arms": [
                    {"arm": "green", "before": 0.5, "after": 0.92, "told": 30, "told_mean": 0.1,
                     "expired": 0, "expired_mean": None, "usual_mean": 0.1},
                    {"arm": "red", "before": 0.5, "after": 0.08, "told": 21, "told_mean": 0.8,
                     "expired": 3, "expired_mean": 1.0, "usual_mean": 0.82},
                ],
                "notes": [],
            }
        ]
    )  # fmt: skip

    moves: list[MoveBody]


class PastOf(NamedTuple):
    """What is taken of a replica: its largest moves, and what its arms usually lose."""

    moves: list[WeightMove]
    arms: tuple[str, ...]
    usual: list[float | None]
    bounds: LossRange


@router.get("/{name}/moves", response_model=MovesBody, responses=BY_NAME)
async def moves(name: str, bridge: TheBridge, who: Caller, range_: InRange = "all") -> Any:
    """Why the weights moved: the largest changes of a range, and what happened meanwhile."""
    who.needs_sight(known_name(name))
    past = await bridge.run_on_thread(lambda store, each: past_of(each.named(name), range_))
    found = await bridge.read(
        lambda store: [move_view(store, name, past, move) for move in past.moves]
    )
    return JSONResponse({"moves": found})


def past_of(replica: Replica, range_: str) -> PastOf:
    """The largest moves of a range that ends now, copied from a replica."""
    stats, ever, now = replica.stats, replica.arm_history.ever, time.time()
    places = np.array([stats.places[arm] for arm in replica.problem.arms])
    present = shown_at(len(ever), replica.weights(), places)
    points = [*stats.weights_of(range_, now), (replica.round + 1, now, present)]
    usual = [stats.losses.shown(place)["mean"] for place in range(len(ever))]
    return PastOf(largest_moves(points), ever, usual, replica.problem.loss_range)


def move_view(store: Store, name: str, past: PastOf, move: WeightMove) -> dict[str, Any]:
    """A move, with what happened meanwhile."""
    found = store.happened(name, (move.begin, move.end), NOTED, MOST_ROWS)
    change = abs(move.after - move.before)
    places = sorted(range(len(past.arms)), key=lambda place: -change[place])[:MOST_ARMS]
    return {
        "begin": move.begin,
        "end": move.end,
        "first_round": move.first_round,
        "last_round": move.last_round,
        "distance": move.distance,
        "complete": found.complete,
        "arms": [arm_view(place, past, move, found) for place in places],
        "notes": [
            {"at": note.at, "kind": note.kind, "what": described(note)} for note in found.notes
        ],
    }


def arm_view(place: int, past: PastOf, move: WeightMove, found: Happened) -> dict[str, Any]:
    """What happened to an arm meanwhile."""
    arm, loss_of = past.arms[place], past.bounds.loss_of
    view: dict[str, Any] = {
        "arm": arm,
        "before": float(move.before[place]),
        "after": float(move.after[place]),
    }
    kinds: tuple[Literal["told", "expired"], ...] = ("told", "expired")
    for kind in kinds:
        count, total = found.outcomes.get((kind, arm), (0, 0.0))
        view |= {kind: count, f"{kind}_mean": loss_of(total / count) if count else None}
    usual = past.usual[place]
    return {**view, "usual_mean": None if usual is None else loss_of(usual)}


def described(note: Note) -> str:
    """A change of a problem in words, where its kind does not say it all."""
    words: Mapping[str, Any] = {ARMS: describe_change, TERMS: describe_terms}
    return words[note.kind](note.payload) if note.kind in words else ""
