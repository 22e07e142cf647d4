"""Our own learners for practical use, which need no prior knowledge.

- `practical_bandit`: "practical-bandit", a bandit that draws arms by how likely they are the best.
- `memories`: mean losses of the arms, remembered permanently and for shorter times.
- `silence`: what pending plays say by not having reported yet.
- `certified_trust`: the account of Theorem 4, by which rounds may be played from any weights.
- `trust_standing`: where that account stands, for people and for bounds.
- `practical_experts`: "practical-experts", a mixture of one steady and two forgetting strategies.
- `drift`: the accounts by which strategies and mixture find their learning rates.
- `experts_certificate`: the bound that a run of it proves about its own regret.
"""
