# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Study files of fits: YAML with a world, recordings and parameters.

docs/reference/fit_file.md lists the entries. `FIT_FILE` is the schema.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.common import schema
from hrpsim.common.errors import FitError
from hrpsim.common.file_names import exists
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.common.resources import share_path, user_path
from hrpsim.common.typed_values import check_arguments
from hrpsim.common.values import POSITIVE, whole_count
from hrpsim.fitting.fit import STARTS, fit
from hrpsim.fitting.recordings.measured_motion import Recording
from hrpsim.fitting.recordings.readers import read_recordings
from hrpsim.fitting.result import FitResult
from hrpsim.fitting.signals.signal_kinds import SIGNAL_KINDS
from hrpsim.fitting.slopes import DERIVATIVES
from hrpsim.fitting.unknowns import SCALES
from hrpsim.sweeps.worlds.world_scenario import WorldScenario
from hrpsim.world.file.file_reader import checked_content

UNKNOWN = {
    "between": schema.vector(2),
    "prior": schema.vector(2),
    "paths": schema.listing(schema.name, 1),
    "scale": schema.one_of("scale", SCALES),
}
SIGNAL = {
    "topic": schema.name,
    "kind": schema.one_of("kind", SIGNAL_KINDS),
    "of": schema.name,
    "known": schema.table(schema.numeric(), "from unknowns to values"),
}
RECORDING = {
    "name": schema.name,
    "entity": schema.name,
    "held_out": schema.flag,
    "interpolate": schema.flag,
    "begin": schema.numeric(),
    "end": schema.numeric(),
    "states": schema.null_or(schema.name),
    "commands": schema.null_or(schema.name),
    "base": schema.name,
    "joints": schema.listing(schema.name, 1),
    "signals": schema.table(
        schema.either("a topic, or a mapping with topic", schema.name, schema.mapping(SIGNAL)),
        "from the names of signals to topics",
    ),
}
EXCITATION = {
    "joints": schema.listing(schema.name, 1),
    "duration": schema.numeric(POSITIVE),
    "period": schema.numeric(POSITIVE),
    "harmonics": schema.integer(2, 100),
    "frequency": schema.numeric(POSITIVE),
    "share": schema.numeric(POSITIVE),
    "amplitude": schema.numeric(POSITIVE),
    "evaluations": schema.integer(1, 1_000_000),
    "starts": schema.integer(1, 1000),
    "seed": schema.integer(0, 1_000_000_000),
}
_UNKNOWN = schema.mapping(UNKNOWN, required={"start": schema.numeric()})
OPTIONS = {
    "title": schema.name,
    "entity": schema.name,
    "window": schema.numeric(POSITIVE),
    "start": schema.one_of("start", STARTS),
    "change": schema.numeric(POSITIVE),
    "derivatives": schema.one_of("derivatives", DERIVATIVES),
    "noise": schema.table(schema.numeric(POSITIVE), "from kinds to standard deviations"),
    "folds": schema.integer(2, 1000),
    "excitation": schema.mapping(EXCITATION),
}
REQUIRED = {
    "world": schema.name,
    "recordings": schema.listing(schema.mapping(RECORDING, required={"file": schema.name}), 1),
    "parameters": schema.table(
        schema.either("a start value, or a mapping with start", schema.numeric(), _UNKNOWN),
        "from parameters to first values",
    ),
}
FIT_FILE = schema.mapping(OPTIONS, required=REQUIRED)


@dataclass(frozen=True)
class FitStudy:
    """The world, recordings, parameters and options of a fit."""

    title: str
    world: Path
    recordings: tuple[Recording, ...]
    parameters: dict[str, Any]
    options: dict[str, Any]
    folds: int | None

    def run(self, report=None) -> FitResult:
        """Fit the parameters to the recordings that are not held out."""
        return fit(self.world, self.recordings, self.parameters, report=report, **self.options)

    def cross_validate(self, report=None) -> dict[str, tuple[float, float]]:
        """Leave out each fold of the recordings in turn, fit to the others, and predict the fold.

        Returns:
            {kind: (error before, error after)} of the predictions, in the unit of the kind.
        """
        return cross_validate(
            self.world,
            self.recordings,
            self.parameters,
            self.folds or 2,
            report=report,
            **self.options,
        )


def cross_validate(
    world: str | Path | WorldScenario,
    recordings: Sequence[Recording],
    parameters: Mapping[str, Any],
    folds: int,
    **options: Any,
) -> dict[str, tuple[float, float]]:
    """Leave out each fold of the recordings in turn, fit to the others, and predict the fold.

    Args:
        world: as for `fit`.
        recordings: recordings, at least as many as folds.
        parameters: as for `fit`.
        folds: number of groups into which the recordings are divided.
        **options: other options of `fit`.

    Returns:
        {kind: (error before, error after)} of the predictions, in the unit of the kind.

    Raises:
        FitError: there are fewer recordings than folds, or `fit` raises the error.
    """
    check_arguments(cross_validate, locals(), FitError)
    if len(recordings) < whole_count("folds", folds, 2, FitError):
        raise FitError(
            f"a cross-validation with {folds} folds needs at least {folds} recordings, "
            f"got {len(recordings)}"
        )
    squares: dict[str, list[np.ndarray]] = {}
    counts = []
    for fold in range(folds):
        split = [
            replace(recording, held_out=k % folds == fold) for k, recording in enumerate(recordings)
        ]
        counts.append(sum(recording.held_out for recording in split))
        result = fit(world, split, parameters, **options)
        for kind, both in result.errors(held_out=True).items():
            squares.setdefault(kind, []).append(np.square(both))
    means = {kind: np.average(own, axis=0, weights=counts) for kind, own in squares.items()}
    return {kind: (float(np.sqrt(a)), float(np.sqrt(b))) for kind, (a, b) in means.items()}


def read_fit_study(path: str | Path) -> FitStudy:
    """Read a fit file. Raises HrpsimError with file, line and entry."""
    path = user_path(path)
    text = read_yaml(path, FitError, "study file")
    file = checked_content(text, FIT_FILE, FitError)
    parameters = given_parameters(file["parameters"])
    recordings = tuple(
        recording for entry in file["recordings"] for recording in _recordings(path, dict(entry))
    )
    options = {
        key: file[key]
        for key in ("entity", "window", "start", "noise", "change", "derivatives")
        if key in file
    }
    title = file.get("title", path.stem)
    world = beside(path, file["world"])
    return FitStudy(title, world, recordings, parameters, options, file.get("folds"))


def _recordings(path: Path, entry: dict[str, Any]) -> tuple[Recording, ...]:
    """Read the segments of the recording that an entry names, within the time span of the entry."""
    begin, end = entry.pop("begin", -np.inf), entry.pop("end", np.inf)
    file = beside(path, entry.pop("file"))
    segments = read_recordings(file, **entry)
    if not np.isfinite([begin, end]).any():
        return segments
    within = [
        segment for segment in segments if ((segment.time >= begin) & (segment.time <= end)).any()
    ]
    return tuple(segment.part(begin, end) for segment in within or segments[:1])


def given_parameters(entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a file, with lists converted to tuples."""
    return {
        name: {key: tuple(x) if isinstance(x, list) else x for key, x in value.items()}
        if isinstance(value, dict)
        else value
        for name, value in entries.items()
    }


def beside(study: Path, named: str) -> Path:
    """Resolve a path relative to the study file.

    If there is no such file, use hrpsim's own files.
    """
    path = (study.parent / user_path(named)).absolute()
    if exists(path):
        return path
    try:
        return share_path(named)
    except FileNotFoundError:
        return path
