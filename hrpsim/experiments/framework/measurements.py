# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The files of measurements that R1 and R2 need, which are not part of hrpsim."""

from __future__ import annotations

import os
from pathlib import Path

from hrpsim.errors import HrpsimError

VARIABLE = "HRPSIM_MEASUREMENTS"
_BESIDE_THE_CHECKOUT = Path(__file__).resolve().parents[4] / "shared" / "data"


class MeasurementsAbsent(HrpsimError):
    """Measurements that an experiment needs are not on this machine; the message names them."""


def measurements(folder: Path | None, names: tuple[str, ...], source: str) -> list[Path]:
    """Return the files `names` of `folder`.

    None is the folder that the variable HRPSIM_MEASUREMENTS names, or else
    ../shared/data next to the checkout. Raises MeasurementsAbsent, with `source`, where a file is
    not there.
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
