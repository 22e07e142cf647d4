"""Environments: the losses and delays of every round and arm, fixed before the game begins.

An environment is the oblivious adversary of the theory. It combines a loss process with a delay
process and delivers both in blocks of rounds, the same game for the same seed.

- `environment`: `Environment`, and the protocols of loss, delay, advice and context processes
- `losses`, `changing_losses`: loss processes, with steady means and with means that change
- `moving_losses`: losses around means that move, with a level that all arms share; revenue
- `delays`, `changing_delays`: delay processes, steady ones and those that depend on round or loss
- `combined_delays`: log-normal delays; delays by outcome, with pauses, within a window
- `parameters`: checks of the parameters of these processes
- `missing`: the missing counts rho_t(i) of an array of delays
- `scenarios`: the registry of named scenarios with their options
- `synthetic`, `counterexamples`, `ads`: scenarios with invented losses
- `contexts`: a scenario with contexts that only policies see
- `contextual`: scenarios in which learners see a context before each round
- `stocks`, `training_jobs`, `clinical_trial`: scenarios with measured losses and delays
- `packaged_data`: access to the data files that are part of the package
- `in_memory`: environments from arrays of losses and delays
- `files`, `feature_columns`: environments from CSV and Parquet files, and their contexts
- `game_files`: one game of any environment in a file, and environments from such files
- `environment_specs`: an environment from text such as "late-best:delay=500" or "mine.csv"
"""
