"""The schema as numbered steps: step n takes a database from version n-1 to version n.

A step is never edited once it was released; a change of the schema is a further step. Both
databases get the same statements, except for the few words in `WORDS`.
"""

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, insert, inspect, select, update

from belated.service.store.schema import FACTS

Step = Sequence[str]

WORDS: Mapping[str, Mapping[str, str]] = {
    "sqlite": {
        "order": "turn bigint not null default 0, seq integer primary key",
        "sequence": "",
        "blob": "blob",
        "clustered": "without rowid",
        "place": "seq",
        "open_until": "",
    },
    "postgresql": {
        "order": "turn bigint, seq bigint, primary key (turn, seq)",
        "sequence": "create sequence journal_seq",
        "blob": "bytea",
        "clustered": "",
        "place": "turn, seq",
        "open_until": "create index open_until on open_tickets (expires_at)"
        " where expires_at is not null",
    },
}

STEPS: Sequence[Step] = (
    (
        "{sequence}",
        "create table problems (name text primary key, spec text not null,"
        " at double precision not null)",
        "create table journal (kind text not null, problem text not null,"
        " at double precision not null, ticket text, arm text, round bigint,"
        " probability double precision, weights text, state_version text, key text, digest text,"
        " expires_at double precision, expires_round bigint, loss double precision,"
        " missing bigint, raw double precision, payload text, {order})",
        "create unique index journal_decision on journal (ticket) where kind = 'decided'",
        "create unique index journal_key on journal (problem, key) where key is not null",
        "create unique index journal_outcome on journal (ticket, arm) where kind <> 'decided'",
        "create index journal_note on journal (problem, seq) where ticket is null",
        "create table open_tickets (ticket text primary key, problem text not null, arm text,"
        " at double precision not null, expires_at double precision, expires_round bigint,"
        " awaiting bigint not null) {clustered}",
        "create index open_until on open_tickets (expires_at) where expires_at is not null",
        "create index open_rounds on open_tickets (problem, expires_round)"
        " where expires_round is not null",
        "create table tallies (problem text, arm text, kind text, slot bigint,"
        " count bigint not null, primary key (problem, arm, kind, slot)) {clustered}",
        "create table snapshots (problem text, position text, code_version text not null,"
        " checksum text not null, blob {blob} not null, primary key (problem, position))",
        "create table api_keys (hash text primary key, label text not null,"
        " scopes text not null, at double precision not null, revoked_at double precision)",
    ),
    (  # nothing reads open tickets by their deadline any more: expiry works on the replicas
        "drop index open_until",
        "drop index open_rounds",
    ),
    (  # the notes among the rows that are not settled, and what expires while a replica lags
        "alter table journal add column checksum bigint",
        "create index journal_note_place on journal ({place}) where ticket is null",
        "{open_until}",
    ),
    (  # states from which the fold goes on, so that the journal before them need not be kept
        "create table checkpoints (problem text primary key, position text not null,"
        " format bigint not null, code_version text not null, sums text not null,"
        " checksum text not null, blob {blob} not null)",
        # a name that was freed may be used again, by another generation
        "alter table problems add column generation bigint not null default 1",
        "alter table problems add column deleted_at double precision",
    ),
    (  # in which way the learner played the round of a decision
        "alter table journal add column branch bigint",
    ),
    (  # whether the learner or the control of a holdout drew the arm
        "alter table journal add column cohort text",
    ),
    (  # one of several outcomes of a ticket, and which revision of it
        "alter table journal add column outcome text",
        "alter table journal add column revision bigint",
        "create unique index journal_named on journal (ticket, outcome, revision)"
        " where outcome is not null",
    ),
    (  # what was known of the round of a decision
        "alter table journal add column context text",
    ),
    (  # what was known of the arms of its round
        "alter table journal add column actions text",
    ),
)


def schema_version(connection: Connection) -> int:
    """The schema version of a database; 0 if there is no store in it yet."""
    if not inspect(connection).has_table("facts"):
        return 0
    found = connection.scalar(select(FACTS.c.value).where(FACTS.c.name == "schema_version"))
    return int(found or 0)


def migrate(connection: Connection, steps: Sequence[Step] = STEPS) -> int:
    """Migrate a database to the newest schema, within the caller's transaction.

    Returns the version it had before. A database of a newer belated is refused.
    """
    version = schema_version(connection)
    if version > len(steps):
        raise ValueError(
            f"the store has schema version {version}, and this belated knows versions up to "
            f"{len(steps)}; use the newer belated that wrote it"
        )
    if version == 0:
        connection.exec_driver_sql(
            "create table facts (name text primary key, value text not null)"
        )
        connection.execute(insert(FACTS).values(name="schema_version", value="0"))
    words = WORDS[connection.dialect.name]
    for step in steps[version:]:
        for template in step:
            if statement := template.format(**words):
                connection.exec_driver_sql(statement)
    known = FACTS.c.name == "schema_version"
    if version < len(steps):
        connection.execute(update(FACTS).where(known).values(value=str(len(steps))))
    return version
