"""Learners over policies, which give advice: a distribution over the arms before each round.

They weigh the policies, and play the mixture of what these advise. The theorems are in
docs/beyond-the-paper.md.

- `advice`: "advice", told the losses of all arms (Theorem 5).
- `advice_bandit`: "advice-bandit", told the losses of its own plays (Theorem 6).
- `exp4`: "exp4", the rival, which knows nothing of delays.
- `policies`: what they share: the policies, their prior, and the mixture of their advice.
"""
