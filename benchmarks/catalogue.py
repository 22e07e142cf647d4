"""The measures of the benchmark."""

from collections.abc import Sequence

from benchmarks.load import capacity, under_load
from benchmarks.measure import Measure
from benchmarks.measures import (
    asks,
    checkpoint_start,
    cold_service,
    contextual_rounds,
    demo,
    earlier_rounds,
    edited_rival,
    engine_rounds,
    experts,
    generic_solvers,
    growth,
    many_arms,
    open_tickets,
    pending,
    rivals,
    solver_passes,
    startup,
    step_interface,
    store,
    tickets,
    wheel,
)

MEASURES = (
    Measure(
        1,
        "concealed round",
        "at most 3 times Exp3",
        "A whole simulated round (draw, delays, estimates, solution) against a round of the "
        "closed-form Exp3 in the same engine.",
        engine_rounds.concealed,
    ),
    Measure(
        2,
        "partially concealed round",
        "at most 6, 7, 9 times Exp3",
        "The same for the partially concealed learner with its nine rates.",
        engine_rounds.partially_concealed,
    ),
    Measure(
        3,
        "full-information round",
        "at most 4.5 times Exp3",
        "The same for the full-information learner with its nine rates; it is told all losses, "
        "Exp3 only one.",
        engine_rounds.full_information,
    ),
    Measure(
        4,
        "generic solvers",
        "10,000 times faster than cvxpy+Clarabel, 5,000 times than cvxopt",
        "A whole partially concealed round against nothing but its argmin by a generic solver, "
        "set up once and solved again with new numbers.",
        generic_solvers.against_solvers,
    ),
    Measure(
        5,
        "ask + tell",
        "1.5, 8, 30 times faster than river's Exp3, and faster than every peer",
        "A decision of ConcealedBandit and telling its loss some rounds later, against a peer's "
        "decision and its reward at once.",
        step_interface.against_bandits,
    ),
    Measure(
        6,
        "experts",
        "100 and 500 times faster than DORM+ and AdaHedgeD, 25 times with 1,000 arms",
        "A full-information round in the engine against a step of PoolD in Python.",
        experts.against_experts,
    ),
    Measure(
        7,
        "solver passes",
        "2 passes on average, never at the cap",
        "Passes over the arms that a solution takes.",
        solver_passes.passes,
    ),
    Measure(
        8,
        "grouping",
        "20 times faster",
        "Ask and tell with ten thousand arms, most never played, with and without grouping these.",
        many_arms.grouping,
    ),
    Measure(
        9,
        "pending feedback",
        "at most 1.3 times",
        "A round with 1,000 or 100,000 losses under way against one with 10.",
        pending.pending,
    ),
    Measure(
        10,
        "imports",
        "at most 1.5 and 2.5 times import numpy",
        "New processes: import belated, and belated --help, against import numpy.",
        startup.imports,
    ),
    Measure(
        11,
        "first decision",
        "1 s with an empty cache, compiled after 20 s, 0.7 s with a warm cache",
        "New processes, from before their start to their first decision; with an empty cache it is "
        "interpreted while other processes compile.",
        startup.first_decision,
    ),
    Measure(
        12,
        "a million arms",
        "at most 60 ms",
        "A round of ask and tell.",
        many_arms.million_arms,
    ),
    Measure(
        13,
        "rivals",
        "at most 10 times Exp3",
        "A whole simulated round of every other learner against a round of Exp3; Thompson "
        "sampling, which has to integrate, and D-KLUCB, which must find K roots, for information.",
        rivals.rivals,
    ),
    Measure(
        14,
        "the service's store",
        "at most 2 times bare inserts",
        "A durable transaction of 100 events, with all checks and what is derived from them, "
        "against bare inserts of the same records into the same database; plain texts for "
        "information.",
        store.stores,
    ),
    Measure(
        15,
        "shared commits",
        "at least 4 times the rate of single commits",
        "24 clients of the service over loopback, each asking singly, against one decision a "
        "commit in the same kind of store; every commit takes 2 ms longer, as on a slower disk.",
        asks.shared_commits,
    ),
    Measure(
        16,
        "an ask without a store",
        "at most 2 times an empty route",
        "An ask of a service whose store writes nothing, with its key, limits, draw, ticket and "
        "metrics, against a route of the same framework that does nothing; 24 clients. The bare "
        "framework below it for information.",
        asks.without_a_store,
    ),
    Measure(
        17,
        "many tickets",
        "at most 1.3 times",
        "An ask at the commit thread of a service with 1,000,000 open tickets against one with "
        "1,000; SQLite, without waiting for the disk.",
        tickets.grown,
    ),
    Measure(
        18,
        "practical rounds",
        "at most 1.5 times the concealed learner",
        "A whole simulated round of the practical bandit against one of the concealed learner; of "
        "the practical experts, who are told the losses of all, against full information, for "
        "information.",
        engine_rounds.practical,
    ),
    Measure(
        19,
        "growing tickets",
        "at most 1.3 times",
        "An ask of ConcealedBandit while its open tickets grow to 1,000,000 against one while they "
        "grow to 1,000; no loss is told, and the garbage collector is on.",
        growth.growth,
    ),
    Measure(
        20,
        "a cold service",
        "first answer after 4 s, no ask slower than 0.5 s",
        "A service with three problems and an empty cache, from its start until it is ready and "
        "has answered; then asks until everything is compiled.",
        cold_service.cold_service,
    ),
    Measure(
        21,
        "an edited rival",
        "15 s",
        "A new process that needs an edited learner compiled, with the code of all others kept: "
        "one that asks it, and pytest with the test that compares its compiled form.",
        edited_rival.edited_rival,
    ),
    Measure(
        22,
        "the demo",
        "100 s, the second time 12 s",
        "`make demo` in an empty clone with an empty cache, set-up included.",
        demo.demo,
    ),
    Measure(
        23,
        "the wheel",
        "5 MB, installed 120 MB, first decision 0.35 s, ask + tell 2 us",
        "The wheel with native learners, built by `make wheel` and installed where there is no "
        "numba; sizes with all dependencies.",
        wheel.wheel,
    ),
    Measure(
        24,
        "memory of open tickets",
        "200 MB",
        "The growth of a process whose commit thread is asked until 1,000,000 tickets are open, "
        "with the practical bandit and deadlines; SQLite, its cache of 50 MB included.",
        open_tickets.memory,
    ),
    Measure(
        25,
        "start from a checkpoint",
        "5 s",
        "`belated serve` until its first answer, with 10,000 decisions after a checkpoint and "
        "10,000,000 before it, which are deleted or, for information, still in the table.",
        checkpoint_start.starts,
    ),
    Measure(
        26,
        "asks and tells",
        "2 times an earlier version on SQLite, 3 times on PostgreSQL",
        "24 clients of `belated serve` that ask and tell in turn: requests a second, and their "
        "ratio to another version, if BELATED_BEFORE names the Python that has it. The clients "
        "share the processors.",
        under_load.asks_and_tells,
    ),
    Measure(
        27,
        "a crowd",
        "99 of 100 answers within 2 s",
        "600 clients that ask and tell as fast as they can; what is refused is told when to come "
        "again. All that was answered is stored, and nothing else.",
        under_load.crowd,
    ),
    Measure(
        28,
        "idle problems",
        "at most 1.3 times, no ask above 0.1 s, stopped after 5 s",
        "Asks of a problem beside 2,000 idle ones against asks of a problem alone; 24 clients.",
        under_load.idle_problems,
    ),
    Measure(
        29,
        "capacity",
        "for information",
        "Processor time of an ask or a tell (by the worker that has it, by every worker, by the "
        "database), and memory and disk of what is kept; docs/scaling.md reckons with these.",
        capacity.capacity,
    ),
    Measure(
        30,
        "contexts",
        "at least 0.7 of the rate without",
        "24 clients of `belated serve` that ask and tell in turn, each ask with a context of four "
        "hashed names for `linear` with ten arms, against asks of a learner without contexts.",
        under_load.contexts,
    ),
    Measure(
        31,
        "ask + tell with a context",
        "10 times faster than Vowpal Wabbit, saved in 200,000 bytes",
        "A decision of `linear` with ten arms and a dict of 32 numbers, and telling its reward "
        "fifty rounds later, against Vowpal Wabbit's squarecb and its reward at once.",
        contextual_rounds.contextual_rounds,
    ),
    Measure(
        32,
        "earlier rounds",
        "at most 1.03 times an earlier version",
        "Whole simulated games of Exp3 and the paper's learners against the same games of an "
        "earlier version, if BELATED_BEFORE names the Python that has it from a clone.",
        earlier_rounds.earlier_rounds,
    ),
)


def measures_numbered(numbers: Sequence[str]) -> list[Measure]:
    """Return the measures with these numbers, in order and each once; all if none are given."""
    known = {str(measure.number): measure for measure in MEASURES}
    for number in numbers:
        if number not in known:
            raise ValueError(f"there is no measure {number!r}; they are numbered 1 to {len(known)}")
    return [measure for number, measure in known.items() if not numbers or number in numbers]
