"""Requests that nobody should send, and rows that nobody should write."""

import random
import socket
import sqlite3
from contextlib import closing
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg

SECONDS = 60.0
NUL, HALF = "\\u0000", "\\ud800"  # as JSON writes them
TICKET = "0" * 26


class RawRequest(NamedTuple):
    """A request as bytes, and how many of them are sent before the client goes silent."""

    data: bytes
    upto: int | None = None


def request(
    method: str, path: str, body: str | bytes = "", key: str = "", headers: str = ""
) -> RawRequest:
    """A request with a body, which is JSON by its own account."""
    content = body if isinstance(body, bytes) else body.encode()
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
        f"Content-Length: {len(content)}\r\n{headers}"
    )
    if content:
        head += "Content-Type: application/json\r\n"
    return RawRequest(head.encode("latin-1") + b"\r\n" + content)


def poisons(key: str, chance: random.Random) -> list[RawRequest]:
    """Requests that must be refused, and must harm no other."""
    junk = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 400)))
    deep, long = chance.randrange(2_000, 100_000), "x" * chance.randrange(10_000, 90_000)
    batch, one = "/v1/tell:batch", f"/v1/tickets/{TICKET}/tell"
    ask = "/v1/problems/plain/ask"
    chunked = "Transfer-Encoding: chunked\r\n"
    sent = [
        request("POST", batch, f'{{"reports": [{{"ticket": "{NUL}", "loss": 0.5}}]}}', key),
        request("POST", batch, f'{{"reports": [{{"ticket": "{HALF}", "loss": 0.5}}]}}', key),
        request("POST", batch, f'{{"reports": [{{"ticket": "{TICKET}", "arm": "{NUL}"}}]}}', key),
        request("POST", batch, '{"reports": 5}', key),
        request("POST", batch, '{"reports": [' + "{}," * 9_999 + "{}]}", key),
        request("POST", "/v1/tickets/%00/tell", '{"loss": 0.5}', key),
        request("POST", "/v1/problems/%00/ask", "", key),
        request("POST", "/v1/problems/%ff%fe/ask", "", key),
        request("POST", f"/v1/problems/{long[:20_000]}/ask", "", key),
        request("POST", ask, "", key, "Idempotency-Key: a\x7fb\r\n"),
        request("POST", ask, "", key, f"Idempotency-Key: {long[:9000]}\r\n"),
        request("POST", ask, '{"count": 3}', key),
        request("POST", ask, "", "not-a-key"),
        request("POST", ask, "", "\xe9\xff"),
        request("POST", f"{ask}:batch", '{"count": 1e9}', key),
        request("POST", f"{ask}:batch", '{"count": -1}', key),
        request("POST", f"{ask}:batch", '{"count": ' + "9" * 5_000 + "}", key),
        request("POST", one, '{"loss": NaN}', key),
        request("POST", one, '{"loss": 1e999}', key),
        request("POST", one, '{"loss": ' + "9" * 50_000 + "}", key),
        request("POST", one, '{"loss": 0.5, "arm": "' + long + '"}', key),
        request("POST", one, '{"loss": 0.5', key),
        request("POST", one, "[" * deep + "]" * deep, key),
        request("POST", one, '{"a":' * deep, key),
        request("POST", one, junk, key),
        request("POST", one, b'{"loss": "\xff\xfe"}', key),
        request("POST", "/v1/problems", f'{{"name": "{NUL}", "arms": ["a", "b"]}}', key),
        request("POST", "/v1/problems", f'{{"name": "odd", "arms": ["a", "{NUL}"]}}', key),
        request("POST", "/v1/problems", f'{{"name": "odd", "arms": ["a", "{HALF}"]}}', key),
        request("POST", "/v1/keys", f'{{"label": "a{NUL}b", "scopes": ["ask:plain"]}}', key),
        request("POST", "/v1/keys", f'{{"label": "a", "scopes": ["ask:{NUL}"]}}', key),
        *contexts_that_are_none(key, long),
        request("PATCH", "/v1/problems/plain", '{"expire_seconds": -1}', key),
        request("GET", f"/v1/problems/plain/{long[:9000]}", "", key),
        RawRequest(f"POST {one} HTTP/1.1\r\nHost: a\r\n{chunked}\r\nffffffffff\r\n".encode()),
        RawRequest(f"POST {one} HTTP/1.1\r\nHost: a\r\n{chunked}\r\nzz\r\n\r\n".encode()),
        RawRequest(f"POST {ask} HTTP/1.1\r\n".encode() + b"X: y\r\n" * 5_000 + b"\r\n"),
        RawRequest(f"POST {ask} HTTP/1.1\r\nX: {long}\r\n\r\n".encode()),
        RawRequest(junk),
    ]
    chance.shuffle(sent)
    return [
        each._replace(upto=chance.choice((None, None, None, len(each.data) // 2))) for each in sent
    ]


def contexts_that_are_none(key: str, long: str) -> list[RawRequest]:
    """Asks with contexts that cannot be, and reports of outcomes that cannot be."""
    ask, told = "/v1/problems/seen/ask", f"/v1/tickets/{TICKET}/tell"
    values = ("NaN", "1e999", "1e101", "9" * 5_000, f'"{HALF}"', "[[" * 90 + "]]" * 90, "{}")
    names = ",".join(f'"{number}": 1' for number in range(10_001))
    return [
        *(request("POST", ask, f'{{"context": {{"age": {value}}}}}', key) for value in values[:-1]),
        *(
            request("POST", told, f'{{"outcome": "sale", "reward": {each}}}', key)
            for each in values
        ),
        request("POST", ask, f'{{"context": {{{names}}}}}', key),
        request("POST", ask, f'{{"context": {{"{long}": [{"0," * 900}0]}}}}', key),
        request("POST", ask, f'{{"context": {{"device": "{NUL}"}}}}', key),
        request("POST", f"{ask}:batch", '{"contexts": [{"age": 1}, {"age": "old"}]}', key),
        request("POST", ask, '{"actions": {"red": {"price": 1}}}', key),
    ]


def answer_to(address: str, sent: RawRequest) -> tuple[int, str]:
    """The status of the answer, 400 if the connection was closed, 0 if there was none to close."""
    place = urlsplit(address)
    try:
        connection = socket.create_connection((place.hostname, place.port), timeout=SECONDS)
    except OSError as error:
        return 0, str(error)
    with connection:
        try:
            connection.sendall(sent.data[: sent.upto])
            if sent.upto is not None:
                return 400, "the client went away"
            answer = connection.recv(1000)
        except ConnectionError:
            return 400, "the connection was closed"
        except TimeoutError:
            return 0, f"no answer after {SECONDS:g} s"
    if not answer:
        return 400, "the connection was closed"
    return int(answer.split()[1]), answer.decode(errors="replace")


# Rows as only a person with SQL would write them; each leaves one problem that cannot be folded.
STRANGER = """
insert into journal (turn, seq, kind, problem, at, ticket, arm, loss)
select {turn}, {seq}, 'told', '{name}', 1.0, '{name}', 'red', 0.5"""
NOTE = """
insert into journal (turn, seq, kind, problem, at, payload)
select {turn}, {seq}, '{kind}', '{name}', 1.0, '{payload}'"""
DECISION = """
insert into journal (turn, seq, kind, problem, at, ticket, arm, round, probability, weights,
  state_version, context)
select {turn}, {seq}, 'decided', '{name}', 1.0, '{name}', 'red', 1, 0.5, '{{"red": 0.5}}', 'no',
  '{context}'"""
DAMAGES = {
    "an outcome without a decision": STRANGER,
    "a kind that is none": NOTE.replace("{kind}", "burned").replace("{payload}", "[]"),
    "a note that is no JSON": NOTE.replace("{kind}", "paused").replace("{payload}", "(("),
    "arms that are none": NOTE.replace("{kind}", "arms").replace("{payload}", '{{"add": 5}}'),
    "terms that are none": NOTE.replace("{kind}", "terms").replace(
        "{payload}", '{{"expire_seconds": "soon"}}'
    ),
    "a retention of nothing": NOTE.replace("{kind}", "retained").replace("{payload}", "{{}}"),
    "a seal of nothing": NOTE.replace("{kind}", "sealed").replace("{payload}", "{{}}"),
    "a context that is no JSON": DECISION.replace("{context}", "(("),
    "a context with a number that is none": DECISION.replace("{context}", '{{"age": 1e999}}'),
}
IN_SQLITE = {"turn": "0", "seq": "(select max(seq) + 1 from journal)"}
IN_POSTGRES = {
    "turn": "(select value::bigint from facts where name = 'turn_base')"
    " + pg_current_xact_id()::text::bigint",
    "seq": "nextval('journal_seq')",
}


def damage(database: str, name: str, what: str) -> None:
    """Write a row that cannot be folded into the journal of one problem."""
    if database.startswith("postgresql"):
        with psycopg.connect(database) as other:
            other.execute(DAMAGES[what].format(name=name, **IN_POSTGRES))
        return
    with closing(sqlite3.connect(database, timeout=SECONDS)) as other, other:
        other.execute(DAMAGES[what].format(name=name, **IN_SQLITE))
