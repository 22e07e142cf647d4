"""The paper, and what goes beyond it, in forty digits and more, literally next to the text.

- `argmin`, `literal`, `transcription`: the paper's three learners.
- `answers`: `answer(case)` for every setting beyond the paper; its learners are `advice_full`
  (Theorem 5), `advice_concealed` (Theorem 6), `without_promise` (Prop. 2), `skipping` (Theorem 9)
  and `certified_trust` (Theorem 4).
- `script`, `advice`: what the cases of those learners say, and when it is known.
- `random_games`: cases for all of them. `enumeration`: every draw of a small game.
- `signed_losses`: losses of both signs. `erratum_4`: the games in which eq:tricky fails.
"""

from .answers import answer

__all__ = ["answer"]
