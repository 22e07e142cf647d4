"""The calendar delivers every entry in its round, whatever is pending and however far ahead."""

import numpy as np
import pytest

from belated.play.calendar import (
    CHUNK,
    LATER,
    ROOM,
    TURN,
    TURNS,
    Calendar,
    begin_round,
    empty_calendar,
    put,
    reserved,
    take,
)

WIDTH = 2
Entry = tuple[float, ...]


def write(calendar: Calendar, now: int, due: int, *numbers: float) -> None:
    """Put an entry with these numbers."""
    calendar.rows[put(calendar, now, due)] = numbers


def arrivals(calendar: Calendar, now: int) -> list[Entry]:
    """The numbers of all entries that are due, in the order of delivery."""
    found: list[Entry] = []
    start, end = take(calendar, now)
    while start < end:
        found.extend(tuple(row) for row in calendar.rows[start:end].tolist())
        start, end = take(calendar, now)
    assert start == end == 0
    return found


def free_chunks(calendar: Calendar) -> int:
    """How many chunks the chain of free ones really has; it must not pass one twice."""
    seen = set()
    chunk = int(calendar.marks[0])
    while chunk >= 0:
        assert chunk not in seen
        seen.add(chunk)
        chunk = int(calendar.after[chunk])
    return len(seen)


@pytest.mark.parametrize("longest", [1, 50, TURN - 1, TURN, TURN + 1, 3 * TURN])
def test_everything_comes_in_its_round(longest: int) -> None:
    """And in the order of play, with delays shorter and longer than a turn, as in a dictionary."""
    random = np.random.default_rng(longest)
    rounds = 3 * TURN + 100
    calendar = empty_calendar(WIDTH)
    expected: dict[int, list[Entry]] = {}
    for now in range(rounds):
        begin_round(calendar, now)
        for number in range(int(random.integers(0, 3))):
            delay = int(random.choice([0, longest, random.integers(0, longest + 1)]))
            calendar = reserved(calendar, 1)
            write(calendar, now, now + delay, now, number)
            expected.setdefault(now + delay, []).append((now, number))
        assert arrivals(calendar, now) == expected.pop(now, [])
    assert free_chunks(calendar) == calendar.marks[ROOM]
    for now in range(rounds, rounds + 3 * TURN + 1):
        begin_round(calendar, now)
        assert arrivals(calendar, now) == expected.pop(now, [])
    assert not expected
    assert free_chunks(calendar) == calendar.marks[ROOM] == calendar.after.size - 1


@pytest.mark.parametrize("due", [5, TURN - 1])
def test_a_round_delivers_in_the_order_of_play(due: int) -> None:
    """First played, first delivered, as in the readable loop."""
    calendar = reserved(empty_calendar(WIDTH), 10)
    for now in range(5):
        write(calendar, now, due, now, due)
    assert arrivals(calendar, due) == [(now, due) for now in range(5)]
    assert arrivals(calendar, due) == []


@pytest.mark.parametrize("count", [CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, 10 * CHUNK + 3])
@pytest.mark.parametrize("due", [0, 77, 2 * TURN, 2 * TURN + 9])
def test_many_entries_of_one_round_fill_chunk_after_chunk(count: int, due: int) -> None:
    """More than a chunk holds, this turn or a later one: all come, in order, and leave no trace."""
    calendar = reserved(empty_calendar(WIDTH), 2 * count)
    before = calendar.marks[ROOM]
    for number in range(count):
        write(calendar, 0, due, number, 0.5)
        write(calendar, 0, due + 1, number, 0.25)
    full = 2 * -(-count // CHUNK) if due < TURN else -(-2 * count // CHUNK)  # one turn, one bucket
    assert before - calendar.marks[ROOM] == full
    for now in range(due + 2):
        begin_round(calendar, now)
        parts = {due: 0.5, due + 1: 0.25}
        expected = [(number, parts[now]) for number in range(count)] if now in parts else []
        assert arrivals(calendar, now) == expected
    assert calendar.marks[ROOM] == before == free_chunks(calendar)


def test_what_is_due_after_all_turns_comes_in_its_round_too() -> None:
    """Millions of rounds ahead; the rounds in between deliver nothing, so their turns suffice."""
    calendar = reserved(empty_calendar(WIDTH), 3 * CHUNK)
    before = calendar.marks[ROOM]
    dues = [TURN * TURNS + 5, TURN * TURNS * 2 + TURN + 7, TURN * TURNS - 1]
    for number in range(CHUNK):
        for due in dues:
            write(calendar, 3, due, number, due)
    for turn in range(1, 2 * TURNS + 2):
        begin_round(calendar, turn * TURN)
        for now in sorted(dues):
            if now // TURN == turn:
                assert arrivals(calendar, now) == [(number, now) for number in range(CHUNK)]
    assert calendar.marks[ROOM] == before == free_chunks(calendar)


def test_room_grows_and_entries_stay() -> None:
    """Each demand for room is met, without a change where there is enough, and loses nothing."""
    calendar = reserved(empty_calendar(WIDTH), 1)
    expected = []
    for number in range(40):
        count = 1 + 3 * number
        enough = reserved(calendar, count)
        assert reserved(enough, count) is enough
        calendar = enough
        for entry in range(count):
            due = TURN * (entry % 3) + 11 * entry + number
            write(calendar, 0, due, due, number)
            expected.append((due, number))
    found = []
    for now in range(4 * TURN):
        begin_round(calendar, now)
        today = arrivals(calendar, now)
        assert all(due == now for due, _ in today)
        found.extend(today)
    assert sorted(found) == sorted(expected)
    assert free_chunks(calendar) == calendar.marks[ROOM] == calendar.after.size - 1


def test_the_room_asked_for_is_enough_for_the_worst_case() -> None:
    """Every entry in a bucket of its own, all buckets begun, and the last turn shared out."""
    calendar = reserved(empty_calendar(WIDTH), LATER + 1)
    for due in range(TURN):
        write(calendar, 0, due, due, 0)
    for turn in range(1, TURNS):
        write(calendar, 0, turn * TURN, turn, 1)
    write(calendar, 0, TURN * TURNS, 0, 2)
    assert calendar.marks[ROOM] >= 0
    for now in range(TURN):
        begin_round(calendar, now)
        assert arrivals(calendar, now) == [(now, 0)]
    for turn in range(1, TURNS + 1):
        begin_round(calendar, turn * TURN)
        assert len(arrivals(calendar, turn * TURN)) == 1
    assert calendar.marks[ROOM] == free_chunks(calendar) == calendar.after.size - 1


def test_chunks_are_used_again_and_again() -> None:
    """A hundred thousand entries pass through; no chunk is held that has no entry in it."""
    random = np.random.default_rng(8)
    calendar = empty_calendar(WIDTH)
    pending = delivered = 0
    for now in range(5 * TURN):
        begin_round(calendar, now)
        for _ in range(5 if pending < 300 else 0):
            delay = int(random.integers(0, 2 * TURN)) if random.random() < 0.01 else now % 50
            calendar = reserved(calendar, 1)
            write(calendar, now, now + delay, now, delay)
            pending += 1
        for then, delay in arrivals(calendar, now):
            assert then + delay == now
            pending -= 1
            delivered += 1
        assert 0 <= calendar.after.size - 1 - calendar.marks[ROOM] <= pending
    assert delivered > 50_000
    assert free_chunks(calendar) == calendar.marks[ROOM]
    assert calendar.after.size <= 2 * (LATER + 1)


@pytest.mark.parametrize("delay", [TURN, TURN + 904, 3 * TURN + 1])
def test_room_asked_for_a_stretch_at_a_time(delay: int) -> None:
    """What waits for its turn side by side is shared out among as many rounds, and needs room."""
    calendar = empty_calendar(WIDTH)
    for now in range(delay + 2 * TURN):
        if now % 200 == 0:
            calendar = reserved(calendar, 200)
        begin_round(calendar, now)
        write(calendar, now, now + delay, now, 0.0)
        assert arrivals(calendar, now) == ([(now - delay, 0.0)] if now >= delay else [])
        assert calendar.marks[ROOM] >= 0
