"""Playing a learner through a game, round by round: compiled, or readable."""
