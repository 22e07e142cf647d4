"""A checksum for each row of the journal, so that one which was altered is noticed.

It covers what the row says, as numbers and text: two databases that hold the same events have the
same checksums. Rows that were written before there were checksums have none.
"""

import hashlib
import json

from belated.service.store.records import Body, Decision, NamedOutcome, Outcome


def checksum_of(record: Body) -> int:
    """The checksum of a record: 64 bits with a sign, as both databases can store them."""
    if isinstance(record, Decision):
        shares = record.weights
        weights = None if shares is None else [(arm, plain(q)) for arm, q in shares.items()]
        numbers = (record.probability, record.at, record.expires_at)
        rest = (*record[:4], weights, record.state_version, record.key, record.digest)
        said = (*rest, record.expires_round, *map(plain, numbers))
        if record.branch is not None:
            said = (*said, record.branch)
        if record.cohort is not None:
            said = (*said, record.cohort)
        if record.context is not None:
            said = (*said, "context", record.context)
        if record.actions is not None:
            said = (*said, "actions", record.actions)
    elif isinstance(record, Outcome):
        said = (*record[:3], record.missing, *map(plain, (record.loss, record.at, record.raw)))
    elif isinstance(record, NamedOutcome):
        said = (*record[:3], plain(record.reward), plain(record.at))
    else:
        said = (record.problem, record.kind, json.dumps(record.payload), plain(record.at))
    digest = hashlib.blake2b(repr(said).encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def plain(number: float | None) -> float | None:
    """A number as every database gives it back: not an integer, and no negative zero."""
    return None if number is None else float(number) + 0.0
