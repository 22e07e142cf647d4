"""What can go wrong with a store, and what then stands in it."""

from belated.types import BelatedError


class StoreUnavailable(BelatedError):
    """The store could not do it now; it may be asked again.

    Nothing was written, unless `in_doubt`: then the answer to the commit itself was lost, and
    what was to be written stands whole or not at all. Asking again is safe in both cases, since
    keys and outcomes are unique.
    """

    def __init__(self, sentence: str, in_doubt: bool = False) -> None:
        super().__init__(sentence)
        self.in_doubt = in_doubt


class StoreInUse(BelatedError):
    """Another process owns the file."""
