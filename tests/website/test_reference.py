"""The reference: complete, as the sources say, and its examples print what they show."""

import doctest
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import belated
import belated.client
import belated.testing
from belated.client import Client
from belated.client.clients import ClientMethod, ServiceMethods
from tests.service.server import serving
from website.reference import Entry, as_markdown, entries, named, shown, signature, with_reference

PAGES = sorted((Path(__file__).parents[2] / "docs" / "reference").glob("*.md"))
ENTRIES = [entry for page in PAGES for entry in entries(page.read_text())]


def test_every_public_name_has_one_entry() -> None:
    """Of the library, of its client and of its laws; and nothing is listed twice."""
    names = [entry.name for entry in ENTRIES]
    assert len(names) == len(set(names))
    public = {
        f"{module.__name__}.{name}"
        for module in (belated, belated.client, belated.testing)
        for name in module.__all__
    }
    assert public - set(names) == {"belated.__version__"}


def test_every_method_of_the_clients_is_there() -> None:
    """Those that both have; `close` is beside them."""
    [client] = [entry for entry in ENTRIES if entry.name == "belated.client.Client"]
    methods = [
        name for name, each in vars(ServiceMethods).items() if isinstance(each, ClientMethod)
    ]
    assert sorted(client.members) == sorted([*methods, "close"])


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_entries_are_complete(entry: Entry) -> None:
    """Each has a heading, a docstring, and its members with theirs."""
    text = "\n".join(shown(entry))
    assert text.count("\n### ") == len(entry.members)
    for subject in (
        named(entry.name),
        *(getattr(named(entry.name), each) for each in entry.members),
    ):
        assert (subject.__doc__ or "").split(maxsplit=1)[0] in text


def test_signatures_are_those_of_the_sources() -> None:
    """One line if it fits; methods of the client return what their request answers."""
    assert signature(belated.Ticket.copy, "copy") == "copy() -> 'Ticket'"
    assert signature(Client.pause, "pause") == "pause(name: str) -> str"
    assert signature(belated.Bandit, "Bandit").splitlines()[:4] == [
        "Bandit(",
        "    arms: Sequence[Arm] | int,",
        "    *,",
        "    learner: str = 'practical-bandit',",
    ]
    assert signature(belated.scenario, "scenario").startswith("scenario(name: str, /, **options")
    assert signature(belated.Feedback, "Feedback").splitlines()[1] == "counted: bool"


def test_docstrings_become_markdown() -> None:
    """Arguments as a list, examples as a session."""
    text = "What it is.\n\nArgs:\n    a: one\n        thing.\n    b: another.\n\n"
    text += "Example:\n    >>> 1\n    1\n"
    assert as_markdown(text) == (
        "What it is.\n\n- `a`: one thing.\n- `b`: another.\n\n```pycon\n>>> 1\n1\n```\n"
    )
    assert "## compare { #belated.compare }" in with_reference("::: belated.compare\n")


def examples() -> Iterator[tuple[str, str]]:
    """Yield the names and docstrings of all entries that have examples."""
    for entry in ENTRIES:
        subject = named(entry.name)
        for name in ("", *entry.members):
            text = getattr(subject, name).__doc__ if name else subject.__doc__
            if ">>>" in (text or ""):
                yield f"{entry.name}.{name}".rstrip("."), text


def run(name: str, text: str, **known: Any) -> None:
    """Run the examples of a docstring."""
    parts = {**{each: getattr(belated, each) for each in belated.__all__}, **known}
    test = doctest.DocTestParser().get_doctest(text, parts, name, None, None)
    said: list[str] = []
    failed = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(
        test, out=said.append
    )
    assert failed.failed == 0, "".join(said)


IN_PROCESS = [(name, text) for name, text in examples() if ".client." not in name]


@pytest.mark.parametrize(("name", "text"), IN_PROCESS, ids=[name for name, _ in IN_PROCESS])
def test_examples_print_what_they_show(name: str, text: str) -> None:
    """Typed into Python, an example prints the numbers of the reference."""
    run(name, text)


def test_the_main_names_have_examples() -> None:
    """Each with numbers."""
    wanted = {"Bandit", "Experts", "compare", "evaluate", "scenario", "read_log", "client.Client"}
    assert {f"belated.{name}" for name in wanted} <= {name for name, _ in examples()}


@pytest.mark.check
def test_examples_of_the_client(tmp_path: Path) -> None:
    """They run against a service that is started for them."""
    with serving(str(tmp_path / "belated.db"), "--no-auth") as server:
        for name, text in examples():
            if ".client." in name:
                run(name, text.replace("http://127.0.0.1:8080", server.address), Client=Client)
