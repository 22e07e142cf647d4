"""The queue wakes its taker when enough has come, and not before."""

import threading
import time

from belated.service.core.requests import Ask, Job, JobQueue

LONG = 60.0  # seconds that nothing here ever waits


def jobs(number: int, size: int = 1) -> list[Job]:
    """So many asks, each for so many decisions."""
    return [Job(Ask("ads", size), token) for token in range(number)]


def test_all_that_waits_is_taken_in_order() -> None:
    """In the order in which it came."""
    queue = JobQueue()
    queue.add(jobs(2))
    queue.add(jobs(1))
    assert queue.wait(1, LONG)
    taken, going = queue.taken(500)
    assert [job.token for job in taken] == [0, 1, 0]
    assert going
    assert len(queue) == 0


def test_a_large_request_ends_a_batch() -> None:
    """A batch has at most so many records, unless one request alone has more."""
    queue = JobQueue()
    queue.add(jobs(3, size=400))
    assert [len(queue.taken(500)[0]) for _ in range(2)] == [2, 1]
    queue.add(jobs(1, size=1000))
    assert len(queue.taken(500)[0]) == 1


def test_the_taker_waits_for_a_number() -> None:
    """It is woken by the last of them; what rang before does not make it give up."""
    queue = JobQueue()
    found: list[int] = []

    def take() -> None:
        assert queue.wait(1, LONG)
        assert queue.wait(3, LONG)
        found.append(len(queue.taken(500)[0]))

    taker = threading.Thread(target=take)
    taker.start()
    for _ in range(3):
        queue.add(jobs(1))
        time.sleep(0.01)
    taker.join(LONG)
    assert found == [3]


def test_the_bell_is_not_rung_for_nobody() -> None:
    """What comes while the taker is busy leaves nothing behind but itself."""
    queue = JobQueue()
    for _ in range(100):
        queue.add(jobs(1))
    assert queue.wait(1, LONG)
    assert len(queue.taken(50)[0]) == 50
    assert queue._bell.empty()
    assert queue.wait(50, LONG)
    queue.add(jobs(1))
    assert len(queue.taken(500)[0]) == 51
    assert queue._bell.empty()


def test_time_and_the_end_are_over_at_once() -> None:
    """Without a request it says so; after the end nobody waits, and what is left is taken."""
    queue = JobQueue()
    assert not queue.wait(1, 0.0)
    assert not queue.wait(1, 0.001)
    queue.add(jobs(2))
    queue.end()
    assert queue.wait(10, LONG)
    taken, going = queue.taken(500)
    assert (len(taken), going) == (2, False)
