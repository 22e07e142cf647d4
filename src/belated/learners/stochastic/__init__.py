"""Bandits for losses that are drawn independently, from one law for each arm.

- `stochastic`: the parts that most of them share.
- `delayed_ucb1`: "delayed-ucb1", UCB1 on the rewards that have arrived.
- `qpm_d`: "qpm-d", UCB1 that is served late rewards from a queue for each arm.
- `thompson`: "thompson", the probability that each arm is the best, computed and not drawn.
- `d_ucb`: "d-ucb", UCB for delays whose law is known.
- `d_klucb`: "d-klucb", the same with the bounds of Poisson's divergence.
- `odaaf`: "odaaf", for rewards that are told as one sum, without the arm they belong to.
- `patient_bandits`: "patient-bandits", UCB for delays with heavy tails.
- `successive_elimination`: "successive-elimination", which gives up arms that are surely worse.
- `optimistic_elimination`: "optimistic-elimination", the same where delays depend on losses.
- `phased_elimination`: "phased-elimination", which compares arms at the end of a phase only.
- `leading_arm`: "leading-arm", the smallest mean loss so far, without exploration.
- `confidence_bounds`, `elimination`, `poisson`, `posterior`, `queues`: parts of the above.
"""
