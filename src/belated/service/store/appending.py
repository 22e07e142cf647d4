"""The statements with which PostgreSQL takes records, and a function there that runs them all.

Most appends are of new records of known problems. For these one call of the function is the whole
transaction: one round trip instead of four, and nothing is parsed or planned again. The function is
made of the very statements that run one by one where records are not all new.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg

from belated.service.store.checksums import checksum_of
from belated.service.store.records import Decision, Outcome

LOCK = 0x62_65_6C_44  # advisory locks of the service have this number, and a second one
SLOTS = 64  # each connection has its own tallies, so that no worker waits for another
NOT_ALL_NEW = "BL001"  # the code of the error with which the function ends its transaction

BASE = "(select value::bigint from facts where name = 'turn_base')"
TURN = f"{BASE} + pg_current_xact_id()::text::bigint"

# Anyone who writes about problems holds this lock together with others, and who deletes a problem
# holds it alone. Not the lock of a row: that would give the transaction a number too early.
SHARE_LOCK = f"pg_advisory_xact_lock_shared({LOCK}, 2)"
DELETIONS = "select value from facts where name = 'deletions'"

TALLIED = f"""
insert into tallies as kept (problem, arm, kind, slot, count)
select problem, coalesce(arm, ''), kind, mod(pg_backend_pid(), {SLOTS}), count(*)
from written group by 1, 2, 3 order by 1, 2, 3
on conflict (problem, arm, kind, slot) do update set count = kept.count + excluded.count"""

DECISION_TYPES = {
    "round": "bigint",
    "probability": "float8",
    "at": "float8",
    "expires_at": "float8",
    "expires_round": "bigint",
    "branch": "bigint",
    "checksum": "bigint",
}
OUTCOME_TYPES = {
    "loss": "float8",
    "at": "float8",
    "missing": "bigint",
    "raw": "float8",
    "checksum": "bigint",
}


def given(record: type[Decision] | type[Outcome], types: Mapping[str, str], text: str) -> str:
    """A subquery that reads numbered records from a JSON text, in which doubles are exact.

    This is several times faster than one array parameter per field.
    """
    fields = [
        f"(item->>{place})::{types.get(name, 'text')} as {name}"
        for place, name in enumerate((*record._fields, "checksum"))
    ]
    return (
        f"select nextval('journal_seq') as seq, {', '.join(fields)}"
        f" from jsonb_array_elements({text}::jsonb) as item"
    )


COLUMNS = """
turn, seq, kind, problem, at, ticket, arm, round, probability, weights, state_version, key, digest,
expires_at, expires_round, branch, cohort, context, actions, checksum"""


def decisions_written(text: str) -> str:
    """The beginning of a statement that inserts the new decisions in a text, as `written`.

    Rows are inserted in the order of their unique keys, so that two workers with the same keys wait
    for each other in one direction and do not deadlock. Of a request with a key the first decision
    is inserted first, and the others only if that is new (see `records.request_key`).
    """
    return rf"""
with given as materialized (
  select *, coalesce(split_part(key, E'\n', 2) in ('', '0'), true) as is_first
  from ({given(Decision, DECISION_TYPES, text)}) as numbered
), firsts as (
  insert into journal ({COLUMNS})
  select {TURN}, seq, 'decided', problem, at, ticket, arm, round, probability, weights,
    state_version, key, digest, expires_at, expires_round, branch, cohort, context, actions,
    checksum
  from given where is_first
  order by problem, key, seq
  on conflict (problem, key) where key is not null do nothing
  returning *
), others as (
  insert into journal ({COLUMNS})
  select {TURN}, seq, 'decided', problem, at, ticket, arm, round, probability, weights,
    state_version, key, digest, expires_at, expires_round, branch, cohort, context, actions,
    checksum
  from given where not is_first
    and (problem, split_part(key, E'\n', 1) || E'\n0') in (select problem, key from firsts)
  order by problem, key, seq
  on conflict (problem, key) where key is not null do nothing
  returning *
), written as (select * from firsts union all select * from others), opened as (
  insert into open_tickets
  select ticket, problem, arm, at, expires_at, expires_round, case when arm is not null then 1
    else (select count(*) from json_object_keys(weights::json)) end from written
), tallied as ({TALLIED})"""


def outcomes_written(text: str) -> str:
    """The beginning of a statement that inserts the first outcomes in a text, as `written`.

    `closed` has the tickets of bandits, which are closed by them.
    """
    return f"""
with given as ({given(Outcome, OUTCOME_TYPES, text)}), written as (
  insert into journal (turn, seq, kind, problem, at, ticket, arm, loss, missing, raw, checksum)
  select {TURN}, seq, kind, waiting.problem, given.at, given.ticket, given.arm, loss, missing, raw,
    checksum
  from given cross join lateral (  -- offset 0: one look into the index for each of them
    select problem, arm from open_tickets where ticket = given.ticket offset 0) as waiting
  where coalesce(waiting.arm = given.arm, (select jsonb_exists(decision.weights::jsonb, given.arm)
    from journal as decision where decision.kind = 'decided' and decision.ticket = given.ticket))
  order by given.ticket, given.arm, seq
  on conflict (ticket, arm) where kind <> 'decided' do nothing
  returning *
), closed as (
  delete from open_tickets
  where ticket = any(array(select ticket from written)) and arm is not null returning ticket
), tallied as ({TALLIED})"""


def experts_answered(tickets: str) -> str:
    """A statement that counts new outcomes of experts; `tickets` has one for each outcome."""
    return f"""
update open_tickets as waiting set awaiting = awaiting - (
  select count(*) from unnest({tickets}::text[]) as told (ticket)
  where told.ticket = waiting.ticket)
where ticket = any({tickets}) and arm is null"""


def answered_closed(tickets: str) -> str:
    """A statement that closes those of these tickets that wait for nothing more."""
    return f"delete from open_tickets where ticket = any({tickets}) and awaiting <= 0"


INSERT_DECISIONS = f"{decisions_written('%s')} select ticket from written"
INSERT_OUTCOMES = f"""{outcomes_written("%s")}
select ticket, arm from written union all select ticket, null from closed"""
ANSWER_EXPERTS, CLOSE_ANSWERED = experts_answered("%(tickets)s"), answered_closed("%(tickets)s")

# Outcomes come first, as in `insert_records`. Each statement sees what the lock has waited for.
BODY = f"""
(deletions text, outcomes text, decisions text) returns boolean language plpgsql as $body$
declare
  number bigint;
  experts text[];
begin
  perform {SHARE_LOCK};
  if coalesce(({DELETIONS}), '') <> deletions then return false; end if;
  if outcomes is not null then
    {outcomes_written("outcomes")}
    select count(*), array_agg(ticket) filter (where ticket not in (select ticket from closed))
    into number, experts from written;
    if number < jsonb_array_length(outcomes::jsonb) then
      raise 'not all new' using errcode = '{NOT_ALL_NEW}';
    end if;
    if experts is not null then
      {experts_answered("experts")};
      {answered_closed("experts")};
    end if;
  end if;
  if decisions is not null then
    {decisions_written("decisions")}
    select count(*) into number from written;
    if number < jsonb_array_length(decisions::jsonb) then
      raise 'not all new' using errcode = '{NOT_ALL_NEW}';
    end if;
  end if;
  return true;
end $body$"""

# Named after what it does: workers of two versions may use one database.
NAME = f"append_{hashlib.sha256(BODY.encode()).hexdigest()[:16]}"
APPEND = f"select {NAME}(%s, %s, %s)"


class NotAllNew(Exception):
    """Some records were known already, so what stands must be read in the same transaction.

    Or a problem was deleted, so those that are known must be read again.
    """


def create_function(driver: psycopg.Connection[Any]) -> None:
    """Create the function in a database that does not have it; no one else may do so meanwhile."""
    found = driver.execute(f"select to_regproc('{NAME}')").fetchone()
    if found is None or found[0] is None:
        driver.execute(f"create function {NAME}{BODY}".encode())


def append_new(
    cursor: psycopg.Cursor[Any],
    deletions: str,
    decisions: Sequence[Decision],
    outcomes: Sequence[Outcome],
) -> None:
    """Append records that are all new, in a transaction of its own.

    NotAllNew if one is not, or if there are other deletions than these.
    """
    texts = [as_json(each) if each else None for each in (outcomes, decisions)]
    try:
        row = cursor.execute(APPEND, (deletions, *texts), prepare=True).fetchone()
    except psycopg.Error as error:
        if error.sqlstate != NOT_ALL_NEW:
            raise
        raise NotAllNew from None
    if row is None or not row[0]:
        raise NotAllNew


def as_json(records: Iterable[Decision | Outcome]) -> str:
    """Records with their checksums, as `given` reads them."""
    return json.dumps([(*in_text(record), checksum_of(record)) for record in records])


def in_text(record: Decision | Outcome) -> Decision | Outcome:
    """A record whose weights, if it has any, are a text: their order must be kept."""
    if isinstance(record, Outcome) or record.weights is None:
        return record
    return record._replace(weights=json.dumps(record.weights))  # type: ignore[arg-type]
