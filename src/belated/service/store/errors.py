"""The errors of a store, and what is in the store after each of them."""

from belated.types import BelatedError


class StoreUnavailable(BelatedError):
    """The store could not do its work now; the caller may try again.

    Nothing was written, unless `in_doubt`: then the answer to the commit itself was lost, and the
    transaction was written as a whole or not at all. To try again is safe in both cases, because
    idempotency keys and outcomes are unique.
    """

    def __init__(self, sentence: str, in_doubt: bool = False) -> None:
        super().__init__(sentence)
        self.in_doubt = in_doubt


class ProblemGone(ValueError):
    """A problem does not exist, or not any more; nothing was written."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"there is no problem {problem!r}")
        self.problem = problem


class StoreInUse(BelatedError):
    """Another process owns the SQLite file."""
