"""The help of every command: an example that parses, what each option is and its default, 80 columns."""

import argparse
import shlex
import subprocess
import sys

import pytest

from anhelpers import cli

PARSER = cli._parser()
(COMMANDS,) = (a.choices for a in PARSER._actions if isinstance(a, argparse._SubParsersAction))
STORE = {
    f"store {k}": v
    for a in COMMANDS["store"]._actions
    if isinstance(a, argparse._SubParsersAction)
    for k, v in a.choices.items()
}
OPTIONS = [
    pytest.param(action, id=f"{name} {'/'.join(action.option_strings) or action.dest}")
    for name, parser in (COMMANDS | STORE).items()
    for action in parser._actions
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_purpose_an_example_that_parses_and_its_exit_statuses(
    name, monkeypatch
):
    monkeypatch.setenv("COLUMNS", "80")
    text = COMMANDS[name].format_help()
    assert max(map(len, text.splitlines())) <= 80
    example = cli.module_of(name).EXAMPLE
    assert f"example:\n  {example}\n" in text
    assert "exit status:\n  0 " in text
    words = shlex.split(example)
    assert words[0] == "anhelpers"
    assert PARSER.parse_args(words[1:]).command == name


@pytest.mark.parametrize("action", OPTIONS)
def test_every_option_tells_what_it_is_and_its_default(action):
    if isinstance(action, argparse._SubParsersAction):
        return
    assert action.help
    if action.default not in (None, False, [], "", argparse.SUPPRESS):
        values = action.default if isinstance(action.default, list) else [action.default]
        shown = " ".join(f"{v:g}" if isinstance(v, float) else str(v) for v in values)
        assert f"default: {shown}" in action.help or f"the bundled {shown}" in action.help


def test_the_options_of_all_commands_are_told_without_loading_what_computes():
    """numba alone takes longer to load than the help of a command to print."""
    heavy = ("numba", "pandas", "altair", "torch", "scipy", "sacrebleu", "papermill")
    code = f"import sys; from anhelpers import cli; cli._parser(); print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
