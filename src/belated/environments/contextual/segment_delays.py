"""Delays that depend on the context of a round."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from belated.arrays import Counts, Floats
from belated.environments.environment import DelayProcess, Random, Span


@dataclass(frozen=True)
class BySegment:
    """Delays of `late` where the first feature is above 0, and of `prompt` elsewhere."""

    prompt: DelayProcess
    late: DelayProcess

    reads_contexts = True

    @property
    def random(self) -> bool:
        return self.prompt.random or self.late.random

    def sampler(self, random: Random) -> Callable[[Span, Floats, Floats], Counts]:
        draws = random.spawn(2)
        draw_prompt, draw_late = self.prompt.sampler(draws[0]), self.late.sampler(draws[1])

        def draw(span: Span, losses: Floats, rows: Floats) -> Counts:
            prompt, late = draw_prompt(span, losses), draw_late(span, losses)
            return np.where(rows[:, :1] > 0.0, late, prompt)

        return draw
