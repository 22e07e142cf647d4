"""The rules for texts that come from outside: names, ids, keys and labels.

All of them are checked before they reach the store, because a database refuses some texts (such as
those with NUL in them) in ways of its own.
"""

import re
from typing import NamedTuple

SHOWN = 60  # letters of a text in a sentence about it


class TextRule(NamedTuple):
    """A rule for a kind of text: printable letters, so many of them, in this form if one is given.

    `what` is the text's name and `must` its form in words, for the sentence about one that breaks
    the rule.
    """

    what: str
    must: str
    fewest: int
    most: int
    form: re.Pattern[str] | None = None

    def fits(self, text: str) -> bool:
        """Whether a text obeys the rule."""
        return (
            self.fewest <= len(text) <= self.most
            and text.isprintable()
            and (self.form is None or self.form.fullmatch(text) is not None)
        )

    def checked(self, text: str) -> str:
        """The text; ValueError if it breaks the rule."""
        if not self.fits(text):
            raise ValueError(f"{self.what} is {shown(text)}; it must be {self.must}")
        return text

    @property
    def schema(self) -> dict[str, object]:
        """The rule as a JSON schema, as far as one can say it."""
        found: dict[str, object] = {"type": "string", "maxLength": self.most}
        if self.fewest:
            found["minLength"] = self.fewest
        if self.form is not None:
            found["pattern"] = f"^{self.form.pattern}$"
        return found


def shown(text: str) -> str:
    """A text as a sentence quotes it: escaped, and not longer than a sentence can bear."""
    return repr(text) if len(text) <= SHOWN else f"{text[:SHOWN]!r}... ({len(text)} letters)"


PROBLEM_NAME = TextRule(
    "name",
    "1 to 64 letters, digits, dots, dashes or underscores, and begin with a letter or a digit",
    1,
    64,
    re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"),
)
ARM_NAME = TextRule("arm", "text of 1 to 200 printable letters", 1, 200)
TICKET = TextRule("ticket", "26 small letters and digits", 26, 26, re.compile(r"[0-9a-z]{26}"))
IDEMPOTENCY_KEY = TextRule(
    "Idempotency-Key", "1 to 200 printable ASCII letters without spaces", 1, 200,
    re.compile(r"[!-~]+"),
)  # fmt: skip
EVENT_ID = TextRule(
    "eventId", "1 to 200 printable ASCII letters without spaces and slashes", 1, 200,
    re.compile(r"[!-.0-~]+"),
)  # fmt: skip
LABEL = TextRule("label", "at most 200 printable letters", 0, 200)
