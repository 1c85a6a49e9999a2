# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find the files of measurements for R1 to R4, which are not part of hrpsim."""

from __future__ import annotations

import os
from pathlib import Path

from hrpsim.common.errors import HrpsimError

VARIABLE = "HRPSIM_MEASUREMENTS"
_BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[4] / "shared" / "data"


class MeasurementsAbsent(HrpsimError):
    """Raised if measurements for an experiment are missing. The message names the files."""


def measurements(folder: Path | None, names: tuple[str, ...], source: str) -> list[Path]:
    """Return the paths of the files `names` in `folder`.

    If `folder` is None, the variable HRPSIM_MEASUREMENTS names the folder. Without this variable,
    the folder is ../shared/data next to the checkout. Raises MeasurementsAbsent if a file is
    missing. The message names the `source`.
    """
    named = os.environ.get(VARIABLE)
    folder = folder or (Path(named) if named else _BESIDE_THE_CHECKOUT)
    paths = [folder / name for name in names]
    missing = [path.name for path in paths if not path.is_file()]
    if missing:
        raise MeasurementsAbsent(
            f"{', '.join(missing)} not found in {folder} (--data FOLDER, or {VARIABLE}); {source}"
        )
    return paths
