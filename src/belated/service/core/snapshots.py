"""A replica as bytes (arrays and a little JSON), for snapshots and checkpoints; its fingerprint.

Both restore a replica exactly, and the store guards both with a checksum. A snapshot is used only
by the version of the code that has written it, since another version might fold a state that
differs in its last bits. A checkpoint is used by every later version: when the bytes change, FORMAT
rises, and `unpacked` goes on to read those of earlier formats. So it is when the state of a learner
gets other arrays.
"""

import hashlib
import json
import platform
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from belated.compiled.sources import source_hash
from belated.learners.states import leaves, with_leaves
from belated.service.core.arms import ArmHistory
from belated.service.core.problems import ServedProblem, with_arms, with_terms
from belated.service.core.replica import Replica
from belated.service.core.stats import ProblemStats
from belated.service.core.terms import terms_of
from belated.service.store import Decision, NamedOutcome, Position

FORMAT = 7
FIRST_OF_CHECKPOINTS = 6  # the first format that checkpoints were written in
META = "meta"
LENGTH = 8  # bytes at the beginning, which say how long the list of the arrays is


@cache
def code_version() -> str:
    """A hash of all that decides the bits of a fold: sources, numpy and machine.

    Whether the code is interpreted or compiled is not part of it: the bits are the same.
    """
    parts = (str(FORMAT), source_hash(), np.__version__, platform.machine())
    return hashlib.sha256("/".join(parts).encode()).hexdigest()[:16]


def short_code_version() -> str:
    """The beginning of `code_version`, which tells versions apart in a decision."""
    return code_version()[:8]


def shared_version(replica: Replica) -> str:
    """The state of a replica for a decision that others judge: its version, and that of the code.

    Several workers may decide from different states, and run different versions of the code.
    """
    return f"{replica.version}@{short_code_version()}"


def made_from(decision: Decision) -> tuple[Position, str]:
    """The position of the state that a decision was made from, and the code that held it."""
    position, _, code = decision.state_version.partition("@")
    return position, code


def packed(replica: Replica) -> bytes:
    """The replica as bytes, without its position: a list of its arrays, and then these.

    The zip archive of numpy would take ten times as long for the small arrays of most problems.
    """
    arrays = arrays_of(replica)
    listed = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    head = json.dumps(listed).encode()
    return b"".join([len(head).to_bytes(LENGTH), head, *(a.tobytes() for a in arrays.values())])


def fingerprint(replica: Replica) -> str:
    """A hash that is the same for two replicas if, and only if, they are equal bit for bit."""
    digest = hashlib.sha256()
    for name, array in sorted(arrays_of(replica).items()):
        digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def unpacked(problem: ServedProblem, blob: bytes, format: int = FORMAT) -> Replica:
    """The replica that was packed; ValueError if the bytes do not fit the problem."""
    if not FIRST_OF_CHECKPOINTS <= format <= FORMAT:
        raise ValueError(
            f"the state of {problem.name!r} has format {format}; this belated reads "
            f"{FIRST_OF_CHECKPOINTS} to {FORMAT}"
        )
    try:
        return restored(problem, arrays_in(blob))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"the saved state of {problem.name!r} does not fit: {error!r}") from None


def arrays_in(blob: bytes) -> dict[str, NDArray[Any]]:
    """The arrays that were packed; they cannot be written to."""
    place = LENGTH + int.from_bytes(blob[:LENGTH])
    found: dict[str, NDArray[Any]] = {}
    for name, dtype, shape in json.loads(blob[LENGTH:place]):
        found[name] = np.ndarray(shape, dtype, blob, place)
        place += found[name].nbytes
    return found


def arrays_of(replica: Replica) -> dict[str, NDArray[Any]]:
    """All parts of a replica as named arrays."""
    meta = {
        "generation": replica.problem.generation,
        "round": replica.round,
        "status": replica.status,
        "late": replica.late_reports,
        "retained": replica.retained,
        "arm_history": replica.arm_history,
        "terms": terms_of(replica.problem.spec),
        "gone": replica.open.gone(),
        "every": replica.stats.history.every,
        "recent": list(replica.stats.recent),
    }
    found: dict[str, NDArray[Any]] = {
        META: np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    }
    found |= {f"state.{name}": part for name, part in leaves(replica.state).items()}
    found |= {f"stats.{name}": part for name, part in replica.stats.arrays().items()}
    found |= {f"open.{name}": part for name, part in replica.open.arrays().items()}
    if replica.problem.outcomes is not None:
        found |= {f"named.{name}": part for name, part in replica.named.arrays().items()}
    if replica.problem.is_soft:
        found["clipped"] = replica.stats.clipped
    return found


def restored(problem: ServedProblem, arrays: dict[str, NDArray[Any]]) -> Replica:
    """The replica that consists of these arrays."""
    meta = json.loads(arrays[META].tobytes())
    if meta["generation"] != problem.generation:
        raise ValueError("it is of a problem that had this name before")
    arms, ever, changes = meta["arm_history"]
    replica = Replica(with_terms(with_arms(problem, arms), meta["terms"]))
    replica.arm_history = ArmHistory(tuple(arms), tuple(ever), changes)
    replica.stats = ProblemStats(replica.arm_history)
    replica.round, replica.status = meta["round"], meta["status"]
    replica.late_reports, replica.retained = meta["late"], meta["retained"]
    saved = [name for name in leaves(replica.state) if f"state.{name}" in arrays]
    state = replica.learner.with_later_parts(
        {name: arrays[f"state.{name}"].copy() for name in saved}
    )
    # The driver makes no room now: that would change the fingerprint.
    replica.driver.go_on_from(with_leaves(replica.state, state), replica.round)
    seen = {name[6:]: part for name, part in arrays.items() if name.startswith("stats.")}
    replica.stats.restore(seen, meta["every"], meta["recent"])
    plays = {name[5:]: part for name, part in arrays.items() if name.startswith("open.")}
    replica.restore_plays(plays, meta["gone"])
    if problem.outcomes is not None:
        replica.named.restore({name: arrays[f"named.{name}"] for name in NamedOutcome._fields})
    if problem.is_soft:
        np.copyto(replica.stats.clipped, arrays["clipped"])
    return replica
