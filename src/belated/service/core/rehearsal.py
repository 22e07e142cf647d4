"""Rehearsals: a learner plays once with a state of its own, so that it is compiled in time.

The first call of a learner may have to wait for the compiler. These functions run in another
thread before a problem is created or its arms are changed, so that no request waits for it.
"""

from belated.compiled.dispatch import NO_ARM
from belated.learners.driver import Driver
from belated.service.core.problems import ServedProblem


def rehearse(problem: ServedProblem) -> None:
    """Play two rounds with a problem's learner: one loss is told, the other withdrawn."""
    driver = Driver(problem.learner)
    arm = 0 if problem.is_bandit else NO_ARM
    driver.tell(driver.play(arm)[0], 0, 0.5, 0 if problem.tells_missing else -1)
    driver.withdraw(driver.play(arm)[0], 0)


def rehearse_change_of_arms(problem: ServedProblem) -> None:
    """Change the arms of a problem's learner, if it can change them."""
    if problem.learner.can_change_arms:
        Driver(problem.learner).change_arms([0], 1)
