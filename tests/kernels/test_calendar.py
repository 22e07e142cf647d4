"""The calendar delivers every slot in its round, whatever is pending and however far ahead."""

import numpy as np
import pytest

from belated.kernels.calendar import (
    NONE,
    PENDING,
    TURN,
    TURNS,
    begin_round,
    empty_calendar,
    enlarged,
    put,
    take,
)


@pytest.mark.parametrize("longest", [1, 50, TURN - 1, TURN, TURN + 1, 3 * TURN])
def test_everything_comes_in_its_round(longest: int) -> None:
    """Delays shorter and longer than a turn, compared with a plain dictionary."""
    random = np.random.default_rng(longest)
    rounds = 3 * TURN + 100
    calendar = empty_calendar(4)
    stands_for: dict[int, tuple[int, int]] = {}
    expected: dict[int, list[tuple[int, int]]] = {}
    for now in range(rounds):
        begin_round(calendar, now)
        for number in range(int(random.integers(0, 3))):
            delay = int(random.choice([0, longest, random.integers(0, longest + 1)]))
            if calendar.marks[PENDING] == calendar.after.size:
                calendar = enlarged(calendar, 2 * calendar.after.size)
            slot = put(calendar, now, now + delay)
            assert slot not in stands_for
            stands_for[slot] = (now, number)
            expected.setdefault(now + delay, []).append((now, number))
        arrived = []
        while (slot := take(calendar, now)) != NONE:
            arrived.append(stands_for.pop(slot))
        assert sorted(arrived) == sorted(expected.pop(now, []))
        assert calendar.marks[PENDING] == len(stands_for)


def test_a_round_delivers_in_the_order_of_play() -> None:
    """First played, first delivered, as in the readable loop."""
    calendar = empty_calendar(10)
    slots = [put(calendar, now, 5) for now in range(5)]
    assert [take(calendar, 5) for _ in slots] == slots
    assert take(calendar, 5) == NONE


def test_what_is_due_after_all_turns_comes_in_its_round_too() -> None:
    """Millions of rounds ahead; the rounds in between deliver nothing, so their turns suffice."""
    calendar = empty_calendar(3)
    dues = [TURN * TURNS + 5, TURN * TURNS * 2 + TURN + 7, TURN * TURNS - 1]
    slots = {put(calendar, 3, due): due for due in dues}
    for turn in range(1, 2 * TURNS + 2):
        begin_round(calendar, turn * TURN)
        for now in sorted(dues):
            if now // TURN == turn:
                assert slots[take(calendar, now)] == now
    assert calendar.marks[PENDING] == 0
