"""Learners over policies, which give advice: a distribution over the arms before each round.

They weigh the policies, and play the mixture of what these advise. The theorems are in
docs/beyond-the-paper.md.

- `advice`: "advice", told the losses of all arms (Theorem 5).
- `advice_bandit`: "advice-bandit", told the losses of its own plays (Theorem 6).
- `exp4`: "exp4", the rival, which knows nothing of delays.
- `iloveto`: "iloveto", a rival that balances how well each policy of a class is known.
- `policy_elimination`: "policy-elimination", which drops policies that are certainly worse.
- `policy_class`: what these two share: epochs, a floor under every arm, and what is reported.
- `low_variance`: weights over policies for which no policy's estimated reward varies much.
- `advice_history`: the advice of all plays, and the rewards that have come.
- `policies`: what all share: the policies, their prior, and the mixture of their advice.
"""
