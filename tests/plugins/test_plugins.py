"""Plugins are found by name; a broken one is named in one sentence and harms nothing else."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import belated
from belated import plugins
from belated.environments.scenarios import scenario, scenarios
from belated.learners.registry import learner_named, package_of, registered
from belated.plugins import PluginError
from tests.plugins.installing import describe, look_again

LEARNER = """
from dataclasses import dataclass
from belated.learners.adversarial.exp3 import Exp3

@dataclass(frozen=True)
class Mine(Exp3):
    name = "{name}"
"""
SCENARIO = """
from belated.environments.delays import Constant
from belated.environments.losses import Bernoulli
from belated.environments.scenarios import Parts, scenario_named

@scenario_named("{name}", shows="A test.")
def mine(rounds: int = 20, wait: int = 1):
    {body}
    return Parts(Bernoulli([0.2, 0.8]), Constant(wait), rounds)
"""
Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install packages that consist of one module: its text, and what its entry points name."""
    modules = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)

    def put(module: str, text: str, learners: object = (), scenarios: object = ()) -> None:
        (tmp_path / f"{module}.py").write_text(text)
        groups = {plugins.LEARNERS: dict(learners), plugins.SCENARIOS: dict(scenarios)}  # type: ignore[call-overload]
        describe(tmp_path, module.replace("_", "-"), groups)
        look_again()

    look_again()
    yield put
    for name in sys.modules.keys() - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
    monkeypatch.undo()
    look_again()


def test_a_learner_is_found_by_its_name_and_in_the_list(install: Install) -> None:
    """Its copies as well; the package that it comes from is known."""
    install("coffee_a", LEARNER.format(name="mine-a"), learners={"mine-a": "coffee_a:Mine"})
    kind = learner_named("mine-a")
    assert registered()["mine-a"] is kind
    assert package_of(kind) == "coffee-a 1.0"
    assert package_of(registered()["exp3"]) is None
    assert learner_named("copies-mine-a")(arms=2).one() == kind(arms=2)
    assert list(registered()) == sorted(registered())


def test_only_the_plugin_that_is_asked_for_is_imported(install: Install) -> None:
    """A name of belated's own imports none, and `import belated` looks for none."""
    install("coffee_b", LEARNER.format(name="mine-b"), learners={"mine-b": "coffee_b:Mine"})
    install("coffee_c", "import nothing_c", learners={"mine-c": "coffee_c:Mine"})
    learner_named("exp3")
    learner_named("log-barrier")
    assert not {"coffee_b", "coffee_c"} & sys.modules.keys()
    learner_named("mine-b")
    assert "coffee_c" not in sys.modules
    code = "import sys, belated; assert 'importlib.metadata' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


BROKEN = {
    "import nothing_d": "ModuleNotFoundError: No module named 'nothing_d'",
    "import sys; sys.exit(3)": "SystemExit: 3",
    "raise RuntimeError('two\\nlines')": "RuntimeError: two lines",
    "other = 1": "AttributeError: module 'coffee_d' has no attribute 'Mine'",
    "Mine = 7": "it is 7; it must be a subclass of Learner",
    LEARNER.format(
        name="other"
    ): "it calls itself 'other'; its entry point must have the same name",
    LEARNER.format(name="mine-d")
    + "    guarantee = None\n": "its guarantee is None; it must be a str",
    "from belated.learners.contract import Learner\nclass Mine(Learner): name = 'mine-d'": (
        "its setting is None; it must be a Setting"
    ),
}


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_learner_is_named_and_harms_nothing_else(install: Install, text: str) -> None:
    """The list goes on without it, in one warning; asked for by name it is an error."""
    install("coffee_d", text, learners={"mine-d": "coffee_d:Mine"})
    sentence = f"the plugin 'mine-d' of coffee-d 1.0 cannot be used: {BROKEN[text]}"
    with pytest.warns(belated.BelatedWarning) as warned:
        assert "mine-d" not in registered()
    assert [str(each.message) for each in warned] == [sentence]
    with pytest.raises(PluginError) as refused:
        belated.Bandit(["a", "b"], learner="mine-d")
    assert str(refused.value) == sentence
    assert belated.Bandit(["a", "b"], learner="exp3").ask().arm in ("a", "b")


def test_own_names_stand_and_two_packages_with_one_name_are_refused(install: Install) -> None:
    """What a name means does not depend on the order of installation."""
    text = LEARNER.format(name="exp3")
    install("coffee_e", text, learners={"exp3": "coffee_e:Mine"})
    assert learner_named("exp3").__module__.startswith("belated.")
    with pytest.warns(belated.BelatedWarning, match="'exp3' of coffee-e 1.0 is not used"):
        registered()
    for module in ("coffee_f", "coffee_g"):
        install(module, LEARNER.format(name="twice"), learners={"twice": f"{module}:Mine"})
    with pytest.raises(PluginError, match=r"in several packages, coffee-. 1.0 and coffee-. 1.0"):
        learner_named("twice")


def test_a_saved_learner_whose_plugin_is_gone_says_so(install: Install) -> None:
    """The text is whole; what is missing is the package."""
    install("coffee_h", LEARNER.format(name="mine-h"), learners={"mine-h": "coffee_h:Mine"})
    bandit = belated.Bandit(["a", "b"], learner="mine-h", seed=1)
    bandit.tell(bandit.ask(), 0.5)
    saved = bandit.to_json()
    assert belated.from_json(saved).to_json() == saved
    with pytest.raises(belated.StateFormatError, match="'mine-i', which is not there; install"):
        belated.from_json(resigned(saved.replace("mine-h", "mine-i")))


def resigned(text: str) -> str:
    """A saved learner that was edited, with the right checksum."""
    import json

    from belated.asktell.saving import checksum

    content = json.loads(text)
    del content["checksum"]
    return json.dumps({**content, "checksum": checksum(content)})


def test_scenarios_are_found_and_their_errors_are_sentences(install: Install) -> None:
    """One that cannot be made is listed as not available, and all others are listed."""
    entry = {"mine-k": "coffee_k:mine"}
    install("coffee_k", SCENARIO.format(name="mine-k", body="pass"), scenarios=entry)
    install(
        "coffee_l",
        SCENARIO.format(name="mine-l", body="1 / 0"),
        scenarios={"mine-l": "coffee_l:mine"},
    )
    install("coffee_m", "mine = 1", scenarios={"mine-m": "coffee_m:mine"})
    assert scenario("mine-k", rounds=7).rounds == 7
    with pytest.raises(ValueError, match="mine-k has no option 'cups'"):
        scenario("mine-k", cups=7)
    with pytest.raises(ValueError, match="'mine-l' cannot be made: ZeroDivisionError"):
        scenario("mine-l")
    with pytest.warns(belated.BelatedWarning, match="'mine-m' of coffee-m 1.0 .* it is 1; it must"):
        found = {each.name: each for each in scenarios()}
    assert found["mine-k"].options == {"rounds": 20, "wait": 1}
    assert found["mine-k"].available
    assert not found["mine-l"].available
    assert "late-best" in found
    result = belated.compare(["exp3"], "mine-k", repetitions=2)
    assert len(result.repetitions) == 2
