"""Learners that see a context before each round, and learn which arm is right for which context.

- `linear`: "linear", inverse gaps of optimistic values, the one to use.
- `linear_shared`: "linear-shared", one model of all arms, which are told apart by their features.
- `linear_ucb`: "linear-ucb", a rival that plays the largest of these values.
- `linear_thompson`: "linear-thompson", a rival that draws by the chances to be the best.
- `squarecb`: "squarecb", a rival with inverse gaps and no width, told on arrival.
- `otflinucb`, `otflints`: rivals that count plays at once, and rewards if they come in time.
- `censored_model`: what these two share.
- `contextual_learner`: what all learners here share: options, contexts, what a play freezes.
- `linear_model`: what `linear` and its kin share: a ridge, and what silence says.
- `scaling`: the coordinates of a context, brought to one size.
- `renewal`: a second model of the recent plays, which replaces the model in a changed world.
- `ridge`: a linear model of the rewards of each arm, shrunk to the mean of all arms.
- `normal_chances`: the probability that each of several normal values is the largest.
- `followed_plays`: the plays that are looked at as they grow old.
- `beliefs`: what a linear model believes of each feature, for its user.
- `segments`: contexts of which one thing is known, for its user, too.
"""
