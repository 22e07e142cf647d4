"""The statistics of a problem as sums that are kept while its journal is folded, and estimates.

Modules import only from those above them:

- `moments`: count, mean and variance of a number, by arm
- `weights_over_time`: the weights in some rounds, of all time and of the last hour, day and week
- `sums_over_time`: outcomes and losses by arm and by the time of the decision
- `delays`: `DelayBins`, and the Kaplan-Meier estimate of delays
- `calibration`: whether what a model foretells is what comes
- `arm_values`: what an arm is worth, with what is still awaited allowed for
- `weight_moves`: the largest changes of the weights
"""
