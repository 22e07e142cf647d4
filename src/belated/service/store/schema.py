"""The tables as queries see them; `migrations` creates them.

The service takes the deadlines of tickets from its replicas (see `core.expiry`), and from
`open_tickets` only where a replica lags behind the journal.
"""

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    LargeBinary,
    MetaData,
    Table,
    Text,
)

METADATA = MetaData()

FACTS = Table("facts", METADATA, Column("name", Text, primary_key=True), Column("value", Text))

PROBLEMS = Table(
    "problems",
    METADATA,
    Column("name", Text, primary_key=True),
    Column("spec", Text),
    Column("at", Double),
    Column("generation", BigInteger),
    Column("deleted_at", Double),
)

JOURNAL = Table(
    "journal",
    METADATA,
    Column("turn", BigInteger),  # see postgres.py; always 0 in SQLite
    Column("seq", BigInteger, primary_key=True),
    Column("kind", Text),
    Column("problem", Text),
    Column("at", Double),
    Column("ticket", Text),
    Column("arm", Text),
    Column("round", BigInteger),
    Column("probability", Double),
    Column("weights", Text),
    Column("state_version", Text),
    Column("key", Text),
    Column("digest", Text),
    Column("expires_at", Double),
    Column("expires_round", BigInteger),
    Column("loss", Double),
    Column("missing", BigInteger),
    Column("raw", Double),
    Column("payload", Text),
    Column("branch", BigInteger),
    Column("cohort", Text),
    Column("outcome", Text),
    Column("revision", BigInteger),
    Column("context", Text),
    Column("actions", Text),
    Column("checksum", BigInteger),
)

OPEN_TICKETS = Table(
    "open_tickets",
    METADATA,
    Column("ticket", Text, primary_key=True),
    Column("problem", Text),
    Column("arm", Text),
    Column("at", Double),
    Column("expires_at", Double),
    Column("expires_round", BigInteger),
    Column("awaiting", BigInteger),
)

TALLIES = Table(
    "tallies",
    METADATA,
    Column("problem", Text, primary_key=True),
    Column("arm", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("slot", BigInteger, primary_key=True),
    Column("count", BigInteger),
)

SNAPSHOTS = Table(
    "snapshots",
    METADATA,
    Column("problem", Text, primary_key=True),
    Column("position", Text, primary_key=True),
    Column("code_version", Text),
    Column("checksum", Text),
    Column("blob", LargeBinary),
)

CHECKPOINTS = Table(
    "checkpoints",
    METADATA,
    Column("problem", Text, primary_key=True),
    Column("position", Text),
    Column("format", BigInteger),
    Column("code_version", Text),
    Column("sums", Text),
    Column("checksum", Text),
    Column("blob", LargeBinary),
)

API_KEYS = Table(
    "api_keys",
    METADATA,
    Column("hash", Text, primary_key=True),
    Column("label", Text),
    Column("scopes", Text),
    Column("at", Double),
    Column("revoked_at", Double),
)
