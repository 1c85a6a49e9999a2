# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What `hrpsim reproduce` does: run, print, write, and say by the exit status how it went."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from hrpsim.experiments.framework.experiment import Options
from hrpsim.experiments.framework.registry import find
from hrpsim.experiments.framework.report import as_data, as_markdown, as_page, as_text
from hrpsim.experiments.framework.runner import run_all


def reproduce(
    names: list[str],
    folder: Path,
    *,
    options: Options | None = None,
    as_json: bool = False,
    markdown: Path | None = None,
    pages: Path | None = None,
) -> int:
    """Run the experiments `names`; return 0 if no target is missed, else 1.

    One whose measurements are not on this machine is skipped, by name.

    Figures go to `folder`. The tables go to standard output, or JSON does; the file `markdown`
    receives them all, and the folder `pages` a page for each experiment that ran. Raises
    HrpsimError for an unknown name, before anything runs.
    """
    outcomes = []
    for outcome in run_all(find(names), options or Options(), folder):
        outcomes.append(outcome)
        print(as_text(outcome), end="\n\n", flush=True, file=sys.stderr if as_json else sys.stdout)
    if as_json:
        print(json.dumps(as_data(outcomes), indent=2))
    if markdown is not None:
        markdown.parent.mkdir(parents=True, exist_ok=True)
        markdown.write_text("\n".join(as_markdown(o, markdown.parent) for o in outcomes))
    if pages is not None:
        pages.mkdir(parents=True, exist_ok=True)
        for outcome in (each for each in outcomes if not each.skipped):
            page = pages / f"{outcome.experiment.name.lower()}.md"
            page.write_text(as_page(outcome, pages))
    return 0 if all(outcome.met for outcome in outcomes) else 1
