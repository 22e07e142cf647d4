"""Bandit learners for stochastic losses, drawn independently from one distribution for each arm.

- `stochastic`: the base class and functions that most of these learners share.
- `delayed_ucb1`: "delayed-ucb1", UCB1 on the rewards that have arrived.
- `qpm_d`: "qpm-d", UCB1 that takes late rewards from a queue for each arm.
- `thompson`: "thompson", Thompson sampling with probabilities that are computed, not drawn.
- `d_ucb`: "d-ucb", UCB for delays whose distribution is known.
- `d_klucb`: "d-klucb", D-UCB with confidence bounds from the Poisson divergence.
- `odaaf`: "odaaf", for rewards that arrive as one sum per round, without their arms.
- `patient_bandits`: "patient-bandits", UCB for delays with heavy tails.
- `adaptive_patient_bandits`: "adaptive-patient-bandits", which estimates how heavy the tails are.
- `successive_elimination`: "successive-elimination", which drops arms that are certainly worse.
- `optimistic_elimination`: "optimistic-elimination", elimination for delays that depend on losses.
- `phased_elimination`: "phased-elimination", which compares arms only at the end of a phase.
- `gp_bucb`: "gp-bucb", a Gaussian process over arms that have features, such as prices.
- `leading_arm`: "leading-arm", which plays the smallest mean loss so far, without exploration.
- `confidence_bounds`: confidence bounds, and the choice among arms of equal index.
- `elimination`: bounds on the mean of each arm, and the dropping of worse arms.
- `poisson`: the upper confidence bound from the Poisson divergence.
- `posterior`: the probability that each of several Beta-distributed means is the largest.
- `queues`: queues of rewards, one for each arm.
"""
