"""Routes that explain a problem to whoever looks after it.

- `moves`: why the weights moved
- `beliefs`: what a contextual learner believes of each feature
"""
