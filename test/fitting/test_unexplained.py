# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a model lacks shows in its residuals; what it has leaves noise."""

import numpy as np
import pytest
from fitting.arm import DAMPING, GAIN, write_world

import hrpsim
from hrpsim.fitting import Recording, draw_unexplained, unexplained


def recorded(world, friction):
    """Return a recording with noise of an arm whose joint has dry friction."""
    one = hrpsim.load_world(world)
    robot, rows, noise = one.robots["arm"], [], np.random.default_rng(0)
    robot.set_joint_properties(friction=friction)
    for k in range(400):
        command = 0.6 * np.sin(0.11 * k) + 0.4 * np.sin(0.031 * k)
        rows.append((one.time, robot.q[0], robot.v[0], command))
        robot.command(positions=[command])
        one.step(20)
    time, q, v, commands = np.array(rows).T
    return Recording(
        time,
        ("shoulder",),
        (q + noise.normal(0.0, 1e-4, len(q)))[:, None],
        (v + noise.normal(0.0, 1e-3, len(v)))[:, None],
        command_time=time,
        command_positions=commands[:, None],
    )


@pytest.mark.parametrize("friction, start", [(0.0, "fitted"), (0.5, "measured")])
def test_dry_friction_that_the_model_lacks_is_found(tmp_path, friction, start):
    """Law: friction opposes the velocity, so a model without it is too fast by its sign.

    Noise of measured starts is common to a window: only fitted ones leave residuals white.
    """
    world = write_world(tmp_path)
    first = {GAIN: 10.0, DAMPING: 0.1}
    result = hrpsim.fit(world, [recorded(world, friction)], first, window=0.1, start=start)
    found = {one.kind: one for one in unexplained(result)}["velocity"]
    assert found.white == (friction == 0.0)
    if friction:
        assert found.related == "sign of velocity of shoulder"
        assert found.correlation > 0.2
        assert found.rms > 3e-3
        draw_unexplained(result, tmp_path / "rest.png")
        assert (tmp_path / "rest.png").stat().st_size > 1000
    else:
        assert found.rms == pytest.approx(1e-3, rel=0.15)
