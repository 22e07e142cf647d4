"""Learners: every algorithm of the package, by family, and the contract that all of them keep.

A learner is one file with a state, four compiled functions and a frozen dataclass; the registry
finds it by its name. docs/adding-a-learner.md shows how to write one. This package imports none of
its modules by itself, since each of them needs the compiler.

The parts that all learners share:

- `contract`: what a learner is: `Learner`, `Prediction`, `Verbs`, `Facts`, `Certificate`.
- `states`: taking a state apart into its arrays and putting it together again.
- `following`: plays that are looked at whenever their age doubles, and what such looks share.
- `delay_law`: how late reports come, by arm and outcome, and what silence says by that.
- `branches`: the ways in which a learner may play a round, where it has more than one.
- `driver`: playing a learner round by round, from Python.
- `needs`: what a learner must be told before the first round, as options to make it with.
- `registry`: all learners by name, and copies of them by the names of their wrappers.
- `new_arms`: how an arm enters a game that is outstanding.
- `slots`: the free places of a record that grows with what is outstanding.
- `whole_rounds`: collecting the losses of a round until all of them are there.

The families:

- `paper`: the three learners of the paper.
- `practical`: our own learners, which need not know anything beforehand.
- `contextual`: bandits that see a context before each round.
- `advice`: learners over policies, each of which advises a distribution over the arms.
- `experts`: learners that are told the loss of every arm.
- `optimistic`: experts that guess the losses that have not come yet.
- `adversarial`: bandits against losses that an adversary may choose.
- `tsallis`: bandits with the Tsallis entropy as regularizer.
- `stochastic`: bandits for losses that are drawn from one law for each arm.
- `wrappers`: learners made of several copies of another learner.
- `uniform`: the learner that plays every arm equally, to compare with.
"""
