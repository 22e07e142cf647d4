"""The router of the examples: it learns, and the page shows what it prints."""

from pathlib import Path

import numpy as np
import pytest

from examples.llm_router import MODELS, Prompt, Router, chance_to_please, price_of, report

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "llm-router.md"


def test_prices_and_qualities_are_what_the_text_says() -> None:
    """Chances are chances, losses are in the declared range, and no model is best everywhere."""
    best = set()
    for task in ("chat", "code", "maths", "translation"):
        for tokens in (20, 300, 4000):
            prompt = Prompt(task, tokens, "English")
            for model in MODELS:
                assert 0.0 < chance_to_please(model, prompt) <= 1.0
                assert 0.0 < price_of(model, prompt) <= 0.5
            best.add(max(MODELS, key=lambda m, p=prompt: chance_to_please(m, p) - price_of(m, p)))  # type: ignore[misc]
    assert len(best) >= 3


def test_reviews_come_late_and_half_of_them_never() -> None:
    router = Router(np.random.default_rng(1))
    for _ in range(60):
        router.route(Prompt("chat", 100, "English"))
    assert 50 < len(router.bandit.pending()) == len(router.reviews) <= 60
    unseen = [value for _, _, value in router.reviews if value is None]
    assert 15 < len(unseen) < 45
    assert abs(sum(router.shares(Prompt("code", 100, "other")).values()) - 1.0) < 1e-9


@pytest.mark.check
def test_the_page_shows_what_the_example_prints() -> None:
    """Digit by digit; and the router is nearer to who knows all than any rule."""
    text = report()
    assert text in PAGE.read_text()
    value = {line[:14].strip(): float(line.split()[-2]) for line in text.splitlines()[3:8]}
    rules = [value[name] for name in ("always tiny", "always large", "at random")]
    assert value["belated"] > max(rules)
