"""The paper, and what goes beyond it, in forty digits and more, literally next to the text.

- `argmin`, `literal`, `transcription`: the paper's three learners.
- `answers`: `answer(case)` for every setting beyond the paper; its learners are `advice_full`,
  `advice_concealed`, `without_promise`, `skipping` and `certified_trust`.
- `script`, `advice`: what the cases of those learners say, and when it is known.
"""

from .answers import answer

__all__ = ["answer"]
