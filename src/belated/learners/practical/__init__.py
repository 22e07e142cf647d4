"""Our own learners for practical use, which impute missing losses and need no prior knowledge.

- `practical_bandit`: "practical-bandit", a bandit that plays by an index of each arm.
- `mean_loss`: its four estimates of each arm's mean loss, and their weights.
- `common_shift`: the recent shift of all arms together, which one of the estimates takes out.
- `delay_bias`: by how much losses that take long are worse than others.
- `pending_plays`: the number and age of each arm's plays whose loss has not arrived.
- `trust`: whether imputed losses have predicted no worse than the mean over all arms.
- `certified_trust`: the account of Theorem 4, by which rounds may be played from any weights.
- `practical_experts`: "practical-experts", a mixture of one steady and two forgetting strategies.
- `drift`: the accounts by which strategies and mixture find their learning rates.
- `experts_certificate`: the bound that a run of it proves about its own regret.
"""
