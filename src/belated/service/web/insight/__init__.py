"""Routes that explain a problem to anyone who looks after it.

- `moves`: why the weights moved
- `beliefs`: what a contextual learner believes of each feature
"""
