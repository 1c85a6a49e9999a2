# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write docs/reference/command_line.md: the subcommands of `hrpsim` and their options.

`python tools/command_line.py` writes the page. With --check, the exit status is 1 if the page is
out of date.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hrpsim.commands.cli import _parser

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "command_line.md"
HEAD = """# Command line

Made by `tools/command_line.py` from the commands themselves. `hrpsim COMMAND --help` fits on a
screen: it has each meaning up to its first semicolon.

Commands end with status 0 (done), 1 (refused or failed, one line on stderr; `hrpsim walk`: it fell)
or 2 (wrong usage).
`HRPSIM_TRACEBACK=1` shows where a fault of hrpsim's own arose; `HRPSIM_CACHE_DIR` says where
compiled kernels are kept. The programs of ROS 2 (`hrpsim_node`, `hrpsim_controller`,
`wrench_recorder`, `dynamics_observer`) take parameters: [ROS 2 interface](ros_interface.md).
"""


def main(arguments: list[str]) -> int:
    """Write or check the page. Return the exit status."""
    page = written()
    if "--check" in arguments:
        return int(not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page)
    PAGE.write_text(page, encoding="utf-8")
    return 0


def written() -> str:
    """Return the text of the page."""
    (commands,) = (a for a in _parser()._actions if isinstance(a, argparse._SubParsersAction))
    short = {action.dest: action.help for action in commands._choices_actions}
    sections = [HEAD]
    for name, parser in commands.choices.items():
        options = [a for a in parser._actions if not isinstance(a, argparse._HelpAction)]
        rows = [f"| {_name(action)} | {_help(action)} |" for action in options]
        sections.append(
            f"## hrpsim {name}\n\n{_sentence(short[name])}\n\n"
            "| argument | meaning |\n| --- | --- |\n" + "\n".join(rows) + "\n"
        )
    return "\n".join(sections)


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + "."


def _name(action: argparse.Action) -> str:
    value = action.metavar or ("|".join(action.choices) if action.choices else action.dest.upper())
    value = " ".join(value) if isinstance(value, tuple) else value
    if not action.option_strings:
        return f"`{value}{' ...' if action.nargs in ('+', '*') else ''}`".replace("|", "\\|")
    takes = "" if action.nargs == 0 else f" {value}"
    more = " ..." if action.nargs in ("+", "*") else ""
    return f"`{action.option_strings[-1]}{takes}{more}`".replace("|", "\\|")


def _help(action: argparse.Action) -> str:
    text = " ".join((action.help or "").split()).replace("|", "\\|")
    if not text and action.dest == "xacro":
        text = "argument of the description, such as `bush:=true`; may be repeated"
    has_default = (
        action.option_strings and action.nargs != 0 and action.default not in (None, [], "")
    )
    default = f"{action.default:g}" if isinstance(action.default, float) else str(action.default)
    if has_default and default not in text:
        text += f" ({default})"
    return text.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
