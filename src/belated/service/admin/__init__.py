"""What an administrator does with the service, over HTTP or on a store at rest.

- `offline`: create, show and change problems in a store that no service is running on
- `change_arms`: add and remove arms of a problem, in a running service or offline
- `change_terms`: change when tickets of a problem expire, in the same two places
- `delete`: delete a problem, and free its name
- `forget`: blank keys and contexts of decisions, which may be personal
- `retain`: fold old tickets into checkpoints
- `keys`: make, check, show and revoke API keys
- `export`: the journal of a problem as a log that `belated replay` reads
- `uplift`: what treated decisions have earned more than those of a holdout's control
- `past_weights`: the weights that decisions of several workers were made from
- `verify`: fold the journal again, and compare it with the state in use
"""
