"""Which language model for this prompt? A router that learns from quality that is known later.

Four models differ in price and in what they are good at. A prompt comes with what is known of it
before any model runs: its task, its length, its language. The quality of an answer is known later:
a reviewer looks at half of the answers, some hours afterwards, and nobody looks at the others.
Their tickets are cancelled after two days: that nobody looked says nothing of the answer. Prompts,
models and reviewers are made up, so that no network is needed. `python -m examples.llm_router`
shows the router beside rules that do not learn.
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import belated

PROMPTS = 4000
HOURLY = 60  # prompts
GIVEN_UP = 48.0  # hours
REVIEWED = 0.5  # the share of answers that a reviewer looks at
TASKS = ("chat", "code", "maths", "translation")
LANGUAGES = ("English", "other")


class Model(NamedTuple):
    """A model: the price of a prompt of average length, and how good it is by task.

    `per_doubling` is the quality that it loses whenever a prompt is twice as long.
    """

    price: float
    quality: dict[str, float]
    per_doubling: float


MODELS = {
    "tiny": Model(0.01, dict(zip(TASKS, (0.80, 0.30, 0.20, 0.55), strict=True)), 0.06),
    "coder": Model(0.06, dict(zip(TASKS, (0.55, 0.88, 0.45, 0.40), strict=True)), 0.03),
    "polyglot": Model(0.06, dict(zip(TASKS, (0.75, 0.40, 0.35, 0.92), strict=True)), 0.02),
    "large": Model(0.30, dict(zip(TASKS, (0.95, 0.93, 0.90, 0.94), strict=True)), 0.00),
}


@dataclass(frozen=True)
class Prompt:
    """What is known of a prompt before it is answered."""

    task: str
    tokens: int
    language: str

    @property
    def context(self) -> dict[str, object]:
        """The context for the router; lengths are best told as logarithms."""
        return {"task": self.task, "length": math.log2(self.tokens), "language": self.language}


Route = Callable[[Prompt], str]


def chance_to_please(model: str, prompt: Prompt) -> float:
    """Return how probable it is that a reviewer finds the answer good."""
    told = MODELS[model]
    longer = max(0.0, math.log2(prompt.tokens / 250.0))
    foreign = 0.1 if prompt.language == "other" and model in ("tiny", "coder") else 0.0
    return max(0.05, told.quality[prompt.task] - told.per_doubling * longer - foreign)


def price_of(model: str, prompt: Prompt) -> float:
    """Return what an answer costs, as a share of what a good answer is worth; at most 0.5."""
    return min(0.5, MODELS[model].price * (0.5 + prompt.tokens / 1000.0))


def value_of(model: str, prompt: Prompt) -> float:
    """Return the mean value of an answer: good answers are worth 1, less the price."""
    return chance_to_please(model, prompt) - price_of(model, prompt)


def some_prompts(count: int, random: np.random.Generator) -> list[Prompt]:
    """Make up prompts."""
    tasks = random.choice(TASKS, count, p=[0.45, 0.25, 0.1, 0.2])
    tokens = np.exp(random.normal(5.8, 0.9, count)).astype(int) + 10
    languages = random.choice(LANGUAGES, count, p=[0.7, 0.3])
    columns = zip(tasks.tolist(), tokens.tolist(), languages.tolist(), strict=True)
    return [Prompt(*each) for each in columns]


class Router:
    """Asks belated which model to use, and tells it what reviewers say, hours later."""

    def __init__(self, random: np.random.Generator) -> None:
        self.random = random
        self.now = 0
        self.reviews: list[tuple[int, str, float | None]] = []  # when, of what, with which value
        self.bandit = belated.Bandit(
            list(MODELS),
            learner="linear",
            features={"task": list(TASKS), "length": "number", "language": list(LANGUAGES)},
            loss_range=(-0.5, 1.0),  # of the values that are told
            seed=7,
        )

    def route(self, prompt: Prompt) -> str:
        """Choose a model for a prompt, and let its review be known later."""
        self._hear_reviews()
        ticket = self.bandit.ask(context=prompt.context)
        model = str(ticket.arm)
        good = self.random.random() < chance_to_please(model, prompt)
        value, hours = None, GIVEN_UP
        if self.random.random() < REVIEWED:
            value = float(good) - price_of(model, prompt)
            hours = self.random.exponential(12.0 if model == "large" else 4.0)
        heapq.heappush(self.reviews, (self.now + int(hours * HOURLY), ticket.id, value))
        self.now += 1
        return model

    def _hear_reviews(self) -> None:
        while self.reviews and self.reviews[0][0] <= self.now:
            _, ticket, value = heapq.heappop(self.reviews)
            if value is None:
                self.bandit.cancel(ticket)
            else:
                self.bandit.tell(ticket, reward=value)

    def shares(self, prompt: Prompt) -> dict[str, float]:
        """Return the probabilities with which a prompt would be routed now; nothing changes."""
        weights = self.bandit.weights(context=prompt.context)
        return {str(model): weight for model, weight in weights.items()}


def rules(random: np.random.Generator) -> dict[str, Route]:
    """Return ways to route that do not learn."""
    return {
        "always tiny": lambda prompt: "tiny",
        "always large": lambda prompt: "large",
        "at random": lambda prompt: str(random.choice(list(MODELS))),
        "who knows all": lambda prompt: max(MODELS, key=lambda model: value_of(model, prompt)),
    }


def report(prompts: int = PROMPTS) -> str:
    """Route prompts in all ways, and return a table of what the answers were worth."""
    stream = some_prompts(prompts, np.random.default_rng(1))
    router = Router(np.random.default_rng(2))
    ways = {"belated": router.route, **rules(np.random.default_rng(3))}
    lines = [f"{prompts:,} prompts; value of an answer, mean", ""]
    lines.append(f"{'':14}   whole   last quarter   share of large")
    for name, route in ways.items():
        routed = [route(prompt) for prompt in stream]
        values = [value_of(model, prompt) for model, prompt in zip(routed, stream, strict=True)]
        last = float(np.mean(values[-(prompts // 4) :]))
        large = routed.count("large") / prompts
        lines.append(f"{name:14}   {np.mean(values):.3f}   {last:12.3f}   {large:14.0%}")
    lines += ["", "Where belated would send these prompts now:", ""]
    for prompt in (
        Prompt("chat", 120, "English"),
        Prompt("code", 400, "English"),
        Prompt("maths", 300, "English"),
        Prompt("translation", 300, "other"),
        Prompt("chat", 1500, "English"),
    ):
        best = sorted(router.shares(prompt).items(), key=lambda each: -each[1])[:2]
        said = ", ".join(f"{model} {share:.0%}" for model, share in best)
        lines.append(f"{prompt.task:12} {prompt.tokens:5} tokens, {prompt.language:8} {said}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(report())
