"""The store in PostgreSQL: any number of processes append to it and tail it.

A sequence issues its numbers before the transactions that use them commit, so a reader who
follows these numbers alone would miss rows that commit late. Therefore each event carries the
number of its transaction (`turn`), and only events of transactions older than the oldest one in
progress are read: no event can be inserted before them any more. Their order (turn, seq) is
canonical.

Transaction numbers belong to a database server. If a backup is restored to a server whose counter
is lower, `turn_base` is raised, so that new events still come after all earlier ones.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from sqlalchemy import (
    URL,
    ColumnElement,
    Connection,
    Engine,
    create_engine,
    event,
    literal_column,
    tuple_,
)
from sqlalchemy.exc import DBAPIError, ProgrammingError
from sqlalchemy.types import BigInteger

from belated.service.store.appending import (
    ANSWER_EXPERTS,
    BASE,
    CLOSE_ANSWERED,
    DELETIONS,
    INSERT_DECISIONS,
    INSERT_OUTCOMES,
    LOCK,
    SHARE_LOCK,
    TURN,
    NotAllNew,
    append_new,
    as_json,
    create_function,
)
from belated.service.store.checkpoints import check_not_behind
from belated.service.store.checks import check_decisions, check_outcomes
from belated.service.store.checksums import checksum_of
from belated.service.store.errors import StoreUnavailable
from belated.service.store.migrations import migrate
from belated.service.store.queries import RETENTION, event_of, place_of
from belated.service.store.records import (
    Appended,
    Decision,
    DecisionResult,
    Event,
    Lag,
    NamedOutcome,
    NamedOutcomes,
    Note,
    Outcome,
    OutcomeResult,
    Position,
)
from belated.service.store.schema import JOURNAL
from belated.service.store.store import (
    NOTHING_NAMED,
    MoreNotes,
    Store,
    no_notes,
    unknown_among,
)
from belated.service.store.transactions import KeptConnection, Transactions, reason, sentence

OLDEST_VERSION = 15
SYNCHRONOUS = {"full": "on", "normal": "off", "off": "off"}

# Every statement finds its few rows by an index. With old statistics the planner might scan whole
# tables instead, and it should not plan the same statement again and again.
SETTINGS = """
set idle_in_transaction_session_timeout = '10s'; set enable_seqscan = off;
set plan_cache_mode = force_generic_plan"""

HORIZON = f"{BASE} + pg_snapshot_xmin(pg_current_snapshot())::text::bigint"
BEYOND = f"{BASE} + pg_snapshot_xmax(pg_current_snapshot())::text::bigint"

REBASE = f"""
update facts set value = (select max(turn) + 1 from journal)::text
where name = 'turn_base' and (select max(turn) from journal) >= {BEYOND}"""

INSERT_NOTE = f"""
insert into journal (turn, seq, kind, problem, at, payload, checksum)
values ({TURN}, nextval('journal_seq'), %s, %s, %s, %s, %s)"""

INSERT_NAMED = f"""
insert into journal (turn, seq, kind, problem, at, ticket, outcome, revision, raw, checksum)
select {TURN}, nextval('journal_seq'), 'named', problem, %s, ticket, %s, %s, %s, %s
from open_tickets where ticket = %s
on conflict (ticket, outcome, revision) where outcome is not null do nothing"""

MOST_COUNTED = 100_000  # rows; a reader so far behind need not know how far exactly

# What is settled, and the notes among the rest, which are few: each part is found by its own index.
EVERY = ", ".join(column.name for column in JOURNAL.c)
NEWS = f"""
with horizon as materialized (select {HORIZON} as turn),
  reached as materialized (select (select value from facts where name = '{RETENTION}') as fact)
(select {EVERY}, (select fact from reached), true from journal
  where (turn, seq) > (%(turn)s, %(seq)s)
  and turn < (select turn from horizon) order by turn, seq limit %(limit)s)
union all
(select {EVERY}, (select fact from reached), false from journal
  where (turn, seq) > (%(turn)s, %(seq)s) and ticket is null
  order by turn, seq)"""

BEHIND = """
select count(*), min(at)
from (select at from journal where (turn, seq) > (%s, %s) order by turn, seq limit %s) as behind"""

# The oldest transaction with a number, in any database of the server: it is the horizon.
HOLDING = """
select name from (
  select 'process ' || pid || ' in database ' || datname as name, age(backend_xid) as age
  from pg_stat_activity
  where backend_xid is not null and pid <> pg_backend_pid()
  union all
  select 'the prepared transaction ' || quote_literal(gid) || ' in database ' || database,
    age(transaction) from pg_prepared_xacts) as holding
order by age desc limit 1"""

# A lock of the session, which ends with its connection, whatever becomes of the process.
TRY_RETAINING = f"select pg_try_advisory_lock({LOCK}, 1)"
END_RETAINING = f"select pg_advisory_unlock({LOCK}, 1)"

SHARED_DELETIONS = f"select {SHARE_LOCK}; {DELETIONS}"
HOLD_OFF = f"select pg_advisory_xact_lock({LOCK}, 2)"
COUNT_DELETION = """
insert into facts (name, value) values ('deletions', '1')
on conflict (name) do update set value = (facts.value::bigint + 1)::text"""

WAIT_FOR_TURN = f"select pg_advisory_xact_lock(hashtextextended(%s, {LOCK}))"


class PostgresStore(Store):
    """A store in a PostgreSQL database."""

    one_owner = False
    _order = (JOURNAL.c.turn, JOURNAL.c.seq)

    def __init__(self, url: URL, durability: str = "full") -> None:
        engine = engine_to(url, durability)
        # A statement that only reads is a transaction by itself; two round trips are saved.
        reading = engine_to(url, durability, isolation_level="AUTOCOMMIT")
        super().__init__(Transactions(engine, reading))
        # What is appended is one call of a function, which is a transaction by itself, too.
        self._appending = KeptConnection(reading, writes=True)
        self._following = KeptConnection(reading)
        try:
            self._version: str = self._transactions.write(prepare)
        except BaseException as error:
            self.close()
            if isinstance(error, ProgrammingError):
                raise ValueError(f"the database cannot hold a store: {reason(error)}") from error
            raise
        event.listen(engine, "connect", rebase)
        event.listen(reading, "connect", rebase)

    def close(self) -> None:
        """Close all connections."""
        self._appending.close()
        self._following.close()
        super().close()

    @property
    def library(self) -> str:
        """The version of the server when the store was opened."""
        return f"PostgreSQL {self._version}"

    def _after(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        return [tuple_(JOURNAL.c.turn, JOURNAL.c.seq) > tuple_(turn, seq)]

    def _until(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        return [tuple_(JOURNAL.c.turn, JOURNAL.c.seq) <= tuple_(turn, seq)]

    def _settled_after(self, turn: int, seq: int) -> Sequence[ColumnElement[bool]]:
        horizon = literal_column(f"({HORIZON})", BigInteger)
        return [*self._after(turn, seq), JOURNAL.c.turn < horizon]

    def news(self, position: Position, limit: int) -> tuple[list[Event], list[Note]]:
        """See `Store.news`; here it is one statement."""
        turn, seq = place_of(position)
        given = {"turn": turn, "seq": seq, "limit": limit}

        def read(cursor: psycopg.Cursor[Any]) -> list[Any]:
            return cursor.execute(NEWS, given, prepare=True, binary=True).fetchall()

        rows = self._following.run(read)
        if rows:
            check_not_behind(position, rows[0][-2])
        settled = [event_of(row[:-2], row[0]) for row in rows if row[-1]]
        end = settled[-1].position if settled else position
        others = [event_of(row[:-2], row[0]) for row in rows if not row[-1]]
        ahead = [each.body for each in others if each.position > end]
        return settled, [each for each in ahead if isinstance(each, Note)]

    def lag(self, position: Position, now: float) -> Lag:
        """How far a reader at a position is behind, and which transaction holds it back."""
        turn, seq = place_of(position)

        def read(connection: Connection) -> Lag:
            rows, oldest = connection.exec_driver_sql(BEHIND, (turn, seq, MOST_COUNTED)).one()
            if not rows:
                return Lag()
            holding = connection.exec_driver_sql(HOLDING).first()
            return Lag(rows, max(0.0, now - oldest), holding[0] if holding else None)

        return self._transactions.read(read)

    def append(
        self,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
        notes: Sequence[Note] = (),
        more_notes: MoreNotes = no_notes,
        generations: Mapping[str, int] | None = None,
        named: NamedOutcomes = NOTHING_NAMED,
    ) -> Appended:
        """Append records; see `Store.append`. Most appends are new records of known problems."""
        after = self._known_after  # read before `_known`, which is replaced before it
        known = dict.fromkeys({each.problem for each in decisions}) | dict(generations or {})
        counted = [OutcomeResult(each, True) for each in outcomes]
        usual = not (notes or named.records or named.rests_on or more_notes(counted))
        if usual and not unknown_among(known, self._known):
            check_decisions(decisions)
            check_outcomes(outcomes)
            with suppress(NotAllNew):
                self._appending.run(lambda cursor: append_new(cursor, after, decisions, outcomes))
                return Appended([DecisionResult(each, True) for each in decisions], counted)
        return super().append(decisions, outcomes, notes, more_notes, generations, named)

    def _insert(
        self,
        connection: Connection,
        decisions: Sequence[Decision],
        outcomes: Sequence[Outcome],
    ) -> tuple[Collection[int], Collection[int]]:
        return insert_records(driver_of(connection), decisions, outcomes)

    def _insert_named(self, connection: Connection, outcome: NamedOutcome) -> bool:
        ticket, name, revision, reward, at = outcome
        row = (at, name, revision, reward, checksum_of(outcome), ticket)
        return connection.exec_driver_sql(INSERT_NAMED, row).rowcount == 1

    def _insert_notes(self, connection: Connection, notes: Sequence[Note]) -> None:
        for note in notes:
            payload = json.dumps(note.payload)
            row = (note.kind, note.problem, note.at, payload, checksum_of(note))
            connection.exec_driver_sql(INSERT_NOTE, row)

    def _deletions(self, connection: Connection) -> str:
        return deletions_in(driver_of(connection))

    def _hold_off(self, connection: Connection) -> None:
        connection.exec_driver_sql(HOLD_OFF)
        connection.exec_driver_sql(COUNT_DELETION)

    @contextmanager
    def retaining(self) -> Iterator[bool]:
        """While this lasts no other process retains, nor another thread of this one."""
        engine = self._transactions.writer.execution_options(isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                alone = connection.exec_driver_sql(TRY_RETAINING).scalar_one()
                try:
                    yield alone
                finally:
                    if alone:
                        connection.exec_driver_sql(END_RETAINING)
        except DBAPIError as error:
            raise StoreUnavailable(sentence(error)) from error

    def _wait_for_turn(self, connection: Connection, problem: str) -> None:
        # A waiting transaction has no number yet, so it gets one after those it has waited for.
        connection.exec_driver_sql(WAIT_FOR_TURN, (problem,))


def driver_of(connection: Connection) -> psycopg.Connection[Any]:
    """The connection of the driver itself, the fastest way to run a statement."""
    driver = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver


def deletions_in(driver: psycopg.Connection[Any]) -> str:
    """How many problems were deleted so far; they are read after the lock was waited for."""
    cursor = driver.execute(SHARED_DELETIONS, prepare=False)
    while cursor.nextset():
        pass
    found = cursor.fetchone()
    return found[0] if found else ""


def insert_records(
    driver: psycopg.Connection[Any], decisions: Sequence[Decision], outcomes: Sequence[Outcome]
) -> tuple[Collection[int], Collection[int]]:
    """Insert the new records; returns the indices of the decisions and outcomes written.

    Outcomes come first: the transaction has no number yet, so its number will be larger than that
    of every decision it can see. Outcomes of its own decisions are inserted at the end.
    """
    given = dict(enumerate(outcomes))
    counted = count_outcomes(driver, given)
    placed = place_decisions(driver, decisions)
    if len(counted) == len(outcomes):
        return placed, counted
    own = {decision.ticket for decision in decisions}
    left = {n: each for n, each in given.items() if each.ticket in own and n not in counted}
    return placed, counted | count_outcomes(driver, left)


def place_decisions(driver: psycopg.Connection[Any], decisions: Sequence[Decision]) -> set[int]:
    """Insert the decisions with new keys; returns their indices."""
    if not decisions:
        return set()
    rows = driver.execute(INSERT_DECISIONS, (as_json(decisions),), prepare=True)
    placed = {ticket for (ticket,) in rows.fetchall()}
    if len(placed) == len(decisions):
        return set(range(len(decisions)))
    first = {each.ticket: index for index, each in reversed(list(enumerate(decisions)))}
    return {first[ticket] for ticket in placed}


def count_outcomes(driver: psycopg.Connection[Any], outcomes: Mapping[int, Outcome]) -> set[int]:
    """Insert the outcomes that are the first of an open ticket's arm; returns their indices."""
    if not outcomes:
        return set()
    given = as_json(outcomes.values())
    rows = driver.execute(INSERT_OUTCOMES, (given,), prepare=True).fetchall()
    closed = {ticket for ticket, arm in rows if arm is None}
    if experts := [ticket for ticket, _ in rows if ticket not in closed]:
        driver.execute(ANSWER_EXPERTS, {"tickets": experts}, prepare=True)
        driver.execute(CLOSE_ANSWERED, {"tickets": experts}, prepare=True)
    first = {(each.ticket, each.arm): n for n, each in reversed(list(outcomes.items()))}
    return {first[ticket, arm] for ticket, arm in rows if arm is not None}


def engine_to(url: URL, durability: str, **options: Any) -> Engine:
    """An engine whose connections give up on a silent server, and hold no locks when they hang."""
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=4,
        **options,
        hide_parameters=True,
        connect_args={"connect_timeout": 5, "tcp_user_timeout": 15_000},
    )

    @event.listens_for(engine, "connect")
    def configure(connection: psycopg.Connection[Any], _record: object) -> None:
        connection.execute(f"{SETTINGS}; set synchronous_commit = {SYNCHRONOUS[durability]}")
        connection.commit()

    return engine


def prepare(connection: Connection) -> str:
    """Migrate the database, one process at a time; returns the version of the server."""
    version = str(connection.exec_driver_sql("show server_version").scalar_one()).split()[0]
    if int(version.partition(".")[0]) < OLDEST_VERSION:
        raise ValueError(
            f"the server is PostgreSQL {version}; it must be {OLDEST_VERSION} or newer"
        )
    encoding = connection.exec_driver_sql("show server_encoding").scalar_one()
    if encoding != "UTF8":
        raise ValueError(
            f"the database has the encoding {encoding}; it must be UTF8, to hold every arm's name "
            "(create it with: createdb --encoding=UTF8 --template=template0)"
        )
    connection.exec_driver_sql("select pg_advisory_xact_lock(%s)", (LOCK,))
    if migrate(connection) == 0:
        connection.exec_driver_sql("insert into facts values ('turn_base', '0')")
    create_function(driver_of(connection))
    connection.exec_driver_sql(REBASE)
    return version


def rebase(connection: psycopg.Connection[Any], _record: object) -> None:
    """Adjust `turn_base` on a new connection: the server may have been restored from a backup."""
    connection.execute(REBASE)
    connection.commit()
