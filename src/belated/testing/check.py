"""Checking a learner of one's own: every law is tried, and what fails is in sentences."""

import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hypothesis import HealthCheck, Phase, Verbosity, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky

from belated.comparison.contenders import check_playable
from belated.compiled.entries import can_compile
from belated.compiled.kernels import MODE, compile_mode
from belated.learners.registry import learner_named
from belated.testing.digests import digests_of
from belated.testing.game_laws import GAME_LAWS
from belated.testing.hand_laws import HAND_LAWS
from belated.testing.trials import CLOSE, MOST_ROUNDS, LawBrokenError, LearnerLaw, Trial, is_whole
from belated.types import BelatedError

FEW_ROUNDS = 4  # of the games that are tried first
SAME_BITS = "Compiled, it computes what it computes as plain Python, bit for bit."


class LearnerFaultError(BelatedError, AssertionError):
    """Raised by `check_learner`; the message has a sentence for each law that is broken."""


def check_learner(
    kind: type[Any], examples: int = 25, tolerance: float = CLOSE, compiled: bool = True
) -> None:
    """Check every law on a learner class; raise a LearnerFaultError if one is broken.

    Each law is tried in `examples` random games, which are the same in every call. Where results
    may differ by rounding, weights may differ by `tolerance`. A `Learner` is also compiled, which
    takes some seconds, if numba is installed and `compiled` is true. A class that only has the
    methods of `PlayableLearner` is tried on the laws of playing games.
    """
    check_class(kind)
    laws = [law for law in (*GAME_LAWS, *HAND_LAWS) if law.applies(kind)]
    found: dict[str, str] = {}  # what happened, and the law that it breaks first
    for law in laws:
        what = fault_of(kind, law, examples, tolerance)
        if what:
            found.setdefault(what, law.sentence)
    if compiled and is_whole(kind) and not found and can_compile():
        what = fault_of_bits(kind)
        if what:
            found[what] = SAME_BITS
    if found:
        faults = "".join(f"\n- {sentence} But {what}" for what, sentence in found.items())
        count = "a law" if len(found) == 1 else f"{len(found)} laws"
        raise LearnerFaultError(f"{kind.__name__} breaks {count}.{faults}")


def check_class(kind: type[Any]) -> None:
    """Refuse what is no learner class, or cannot be made, before any law is tried."""
    if not isinstance(kind, type):
        raise LearnerFaultError(f"{kind!r} is given; check_learner takes the class of a learner")
    if is_whole(kind):
        named = learner_named(kind.name) if hasattr(kind, "name") else None
        if named is not kind:
            raise LearnerFaultError(
                f"{kind.__name__} has the name {getattr(kind, 'name', None)!r}, which is that of "
                "another learner; give it a name of its own"
            )
        return
    try:
        check_playable(kind(arms=2))
    except Exception as error:
        raise LearnerFaultError(
            f"{kind.__name__} cannot be made for two arms: {one_line(error)}"
        ) from error


def fault_of(kind: type[Any], law: LearnerLaw, examples: int, tolerance: float) -> str | None:
    """What a learner does that a law forbids, with a game that shows it, a short one first."""
    for most_rounds, share in ((FEW_ROUNDS, (examples + 1) // 2), (MOST_ROUNDS, examples // 2)):
        if share:
            what = fault_in(kind, law, share, tolerance, most_rounds)
            if what:
                return what
    return None


def fault_in(
    kind: type[Any], law: LearnerLaw, examples: int, tolerance: float, most_rounds: int
) -> str | None:
    """Search for a fault in games of so many rounds at most."""
    last: list[Trial] = []

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        verbosity=Verbosity.quiet,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(data=st.data())
    def search(data: st.DataObject) -> None:
        last[:] = [Trial(kind, data, close=tolerance, most_rounds=most_rounds)]
        law.check(last[0])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # promises that a random game does not keep
        try:
            search()
            return None
        except Flaky:
            what = "told the same, it does not play the same; learners draw no random numbers"
        except LawBrokenError as error:
            what = str(error)
        except Exception as error:
            what = f"it raises {one_line(error)}"
    game = last[0].game
    return f"{what}." + (f" Seen with {game}." if game else "")


def fault_of_bits(kind: type[Any]) -> str | None:
    """What a learner computes otherwise when it is compiled; or None."""
    try:
        with compiling("never"):
            plain = digests_of(kind)
        with compiling("wait"):
            compiled = digests_of(kind)
    except Exception as error:
        return f"it raises {one_line(error)}."
    return first_difference(plain, compiled)


def first_difference(plain: Mapping[str, str], compiled: Mapping[str, str]) -> str | None:
    """Where two lists of digests part, as a sentence; or None."""
    for at, digest in plain.items():
        if compiled[at] != digest:
            return f"in a game with {at} at the latest it computes other bits."
    return None


@contextmanager
def compiling(mode: str) -> Iterator[None]:
    """Run learners compiled, or as plain Python, for a while."""
    before = os.environ.get(MODE)
    os.environ[MODE] = mode
    forget_mode()
    try:
        yield
    finally:
        del os.environ[MODE]
        if before is not None:
            os.environ[MODE] = before
        forget_mode()


def forget_mode() -> None:
    """Let the mode be read from the environment again."""
    compile_mode.cache_clear()
    can_compile.cache_clear()


def one_line(error: BaseException) -> str:
    """An error as a short text of one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return text if len(text) <= 300 else text[:297] + "..."
