"""`linear-shared` written out: one ridge on vectors of the context, the arm and their crosses.

The model, the law of delays and what silence says are those of the twin of `linear` with one arm,
which stands for all. Contexts and features of arms are standardised over all that was seen.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from belated.arrays import Floats
from tests.twins.linear import LinearTwin

KNUTH = 2654435761


def standardised(seen: list[Floats], rows: Floats) -> Floats:
    """Each number in standard deviations above its mean, at most 4; 0 if all are the same."""
    all_seen = np.array(seen)
    deviation = all_seen.std(axis=0)
    # As in a running sum, numbers that are equal have no deviation at all.
    deviation[np.ptp(all_seen, axis=0) == 0.0] = 0.0
    scaled = (rows - all_seen.mean(axis=0)) / np.where(deviation > 0.0, deviation, 1.0)
    return np.clip(scaled, -4.0, 4.0) * (deviation > 0.0)


def crosses(x: Floats, z: Floats, most: int) -> Floats:
    """All products of a number of x and one of z; hashed if there are more than most."""
    products = np.outer(x, z).ravel()
    if products.size <= most:
        return np.clip(products, -4.0, 4.0)
    bits = int(math.log2(most))
    hashed = np.zeros(most)
    for pair, product in enumerate(products):
        word = f"{pair * KNUTH % 2**32:032b}"
        place, is_minus = int(word[:bits] or "0", 2), word[bits] == "1"
        hashed[place] += -product if is_minus else product
    return np.clip(hashed, -4.0, 4.0)


@dataclass
class LinearSharedTwin(LinearTwin):
    """A game of `linear-shared`: ask with a context and a row of features for each arm."""

    crossed: int = 32
    contexts: list[Floats] = field(default_factory=list)
    actions: list[Floats] = field(default_factory=list)
    vectors: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    coming: tuple[Floats, list[Floats]] | None = None

    def ask_of(self, context: Floats, rows: Floats, allowed: list[int]) -> Floats:
        """q_t over the places of the arms; only those allowed have been seen."""
        offered = [rows[a] for a in allowed]
        x = standardised([*self.contexts, context], context)
        z = standardised([*self.actions, *offered], rows)
        parts = [np.concatenate([x, row, crosses(x, row, self.crossed)]) for row in z]
        self.vectors = np.array([np.append(part / math.sqrt(part.size), 1.0) for part in parts])
        self.coming = context, offered
        u = np.full(len(rows), -np.inf)
        for a in allowed:
            phi = self.vectors[a]
            u[a] = self.value(0, phi) + self.scale * self.deviation(0, phi)
        told = sum(play.reward is not None for play in self.plays)
        gamma, q = self.gamma * math.sqrt(max(1, told)) / self.noise(), np.zeros(len(rows))
        best = [a for a in allowed if u.max() - u[a] <= 1e-10]
        for a in allowed:
            q[a] = 0.0 if a in best else 1.0 / (len(allowed) + gamma * (u.max() - u[a]))
        q[best] = (1.0 - q.sum()) / len(best)
        return q

    def play_arm(self, arm: int) -> int:
        """Play an arm of the round that was asked for; all its arms have been seen from now on."""
        assert self.coming is not None
        context, offered = self.coming
        self.contexts.append(context)
        self.actions.extend(offered)
        return self.play(self.vectors[arm], 0)
