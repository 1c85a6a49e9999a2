# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The verdict on the time step of a fit."""

import numpy as np
import pytest
from fitting.arm import DAMPING, GAIN, URDF, WORLD, commanded, motion, recording

import hrpsim

FIRST = {GAIN: 13.0, DAMPING: 0.2}


@pytest.mark.parametrize(("step", "is_named"), [(0.0005, False), (0.02, True)])
@pytest.mark.parametrize("start", ["measured", "fitted"])
def test_a_long_time_step_is_named(tmp_path, step, is_named, start):
    """Law: a value that half the step moves noticeably is named, and no value of a short step."""
    time = np.arange(0.0, 2.0, 0.02)
    command_time, commands = commanded(2.0)
    angles = motion(time, commands, command_time, rotor=0.0)
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.yaml").write_text(WORLD.replace("0.0005", str(step)))
    one = recording(angles, time, command_time, commands, 0)
    found = hrpsim.fit(tmp_path / "arm.yaml", [one], FIRST, window=1.9, start=start)
    assert found.reached
    assert bool(found.moved_by_step) == is_named
    assert ("halve `time_step`" in found.verdict()) == is_named
