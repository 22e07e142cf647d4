"""Snapshots: a replica as bytes (arrays and a little JSON), and its fingerprint.

A snapshot restores a replica exactly. It is used only by the version of the code that has written
it, since another version might fold a state that differs in its last bits. The store guards each
snapshot with a checksum.
"""

import hashlib
import io
import json
import platform
from functools import cache
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from belated.compiled.dispatch import NO_ARM
from belated.compiled.sources import source_hash
from belated.learners.states import leaves, with_leaves
from belated.service.core.arms import ArmHistory
from belated.service.core.problems import ServedProblem, with_arms
from belated.service.core.replica import OpenPlay, Replica
from belated.service.core.stats import ProblemStats

FORMAT = 3
META = "meta"


@cache
def code_version() -> str:
    """A hash of all that decides the bits of a fold: sources, numpy and machine.

    Whether the code is interpreted or compiled is not part of it: the bits are the same.
    """
    parts = (str(FORMAT), source_hash(), np.__version__, platform.machine())
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:16]


def packed(replica: Replica) -> bytes:
    """The replica as bytes, without its position."""
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays_of(replica))
    return buffer.getvalue()


def fingerprint(replica: Replica) -> str:
    """A hash that is the same for two replicas if, and only if, they are equal bit for bit."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays_of(replica).items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def unpacked(problem: ServedProblem, blob: bytes) -> Replica:
    """The replica that was packed; ValueError if the bytes do not fit the problem."""
    try:
        with np.load(io.BytesIO(blob), allow_pickle=False) as arrays:
            return restored(problem, dict(arrays))
    except (KeyError, IndexError, TypeError, OSError, EOFError, BadZipFile) as error:
        raise ValueError(f"a snapshot of {problem.name!r} does not fit: {error!r}") from None


def arrays_of(replica: Replica) -> dict[str, NDArray[Any]]:
    """All parts of a replica as named arrays."""
    meta = {
        "round": replica.round,
        "status": replica.status,
        "late": replica.late_reports,
        "arm_history": replica.arm_history,
        "gone": {ticket: play.gone for ticket, play in replica.open.items() if play.gone},
        "every": replica.stats.history.every,
        "recent": list(replica.stats.recent),
    }
    found: dict[str, NDArray[Any]] = {
        META: np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    }
    found |= {f"state.{name}": part for name, part in leaves(replica.state).items()}
    found |= {f"stats.{name}": part for name, part in replica.stats.arrays().items()}
    plays = replica.open.values()
    rows = 1 if replica.problem.is_bandit else len(replica.problem.arms)
    width = replica.learner.row_width
    found["open.ticket"] = np.array(list(replica.open), dtype=np.str_)
    found["open.round"] = np.array([play.round for play in plays], dtype=np.int64)
    found["open.arm"] = np.array([play.arm for play in plays], dtype=np.int64)
    for name in ("at", "expires_at", "expires_round"):
        values = [getattr(play, name) for play in plays]
        found[f"open.{name}"] = np.array(values, dtype=np.float64)
    found["open.rows"] = np.array([play.rows for play in plays]).reshape(-1, rows, width)
    if not replica.problem.is_bandit:
        waits = np.array([play.waits for play in plays], dtype=np.bool_)
        found["open.waits"] = waits.reshape(-1, rows)
    return found


def restored(problem: ServedProblem, arrays: dict[str, NDArray[Any]]) -> Replica:
    """The replica that consists of these arrays."""
    meta = json.loads(arrays[META].tobytes())
    arms, ever, changes = meta["arm_history"]
    replica = Replica(with_arms(problem, arms))
    replica.arm_history = ArmHistory(tuple(arms), tuple(ever), changes)
    replica.stats = ProblemStats(replica.arm_history)
    replica.round, replica.status = meta["round"], meta["status"]
    replica.late_reports = meta["late"]
    state = {name: arrays[f"state.{name}"].copy() for name in leaves(replica.state)}
    # The driver makes no room now: that would change the fingerprint.
    replica.driver.go_on_from(with_leaves(replica.state, state), replica.round)
    seen = {name: arrays[f"stats.{name}"] for name in replica.stats.arrays()}
    replica.stats.restore(seen, meta["every"], meta["recent"])
    for place, ticket in enumerate(arrays["open.ticket"]):
        arm = int(arrays["open.arm"][place])
        replica.open[str(ticket)] = OpenPlay(
            int(arrays["open.round"][place]),
            float(arrays["open.at"][place]),
            arm,
            float(arrays["open.expires_at"][place]),
            float(arrays["open.expires_round"][place]),
            arrays["open.rows"][place].copy(),
            arrays["open.waits"][place].copy() if arm == NO_ARM else None,
            tuple(meta["gone"].get(str(ticket), ())),
        )
    return replica
