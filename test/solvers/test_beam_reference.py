# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The direct solver beside a dense solution of the same equations, assembled apart from it."""

import numpy as np
import pytest
from scipy.linalg import block_diag
from scipy.spatial.transform import Rotation

from evidence.experiments.scenes import beam
from evidence.experiments.studies.e12_beam import dense_beam

STEPS = 12
COUNT = 9
SPRINGS = {
    "rigid": {"compliance": 0.0, "damping_time": 2 / 60},
    "source": beam.SOURCE_SPRING,
    "soft": {"compliance": 1e-5, "damping_time": 2 / 60},
}


@pytest.mark.parametrize("spring", SPRINGS)
@pytest.mark.parametrize("load", ["spinning", "cantilever"])
def test_states_and_impulses_are_those_of_the_dense_solution(load, spring):
    world = beam.our_beam(load, COUNT, solver="direct", spring=SPRINGS[spring])
    truth = dense_beam(load, COUNT, SPRINGS[spring])
    world.step(STEPS)
    truth.step(STEPS)
    assert world.stats.direct_finished and world.stats.direct_rows == len(truth.impulse)
    bodies = world.bodies.values()
    start = beam.centres(COUNT)
    moves = load == "spinning" or spring != "rigid"
    for ours, expected in [
        (beam.our_positions(world) - start, truth.x - start),
        ([body.velocity for body in bodies], truth.v),
        (world.connection_records["impulse"].ravel(), truth.impulse),
    ]:
        scale = np.abs(expected).max() if moves or np.ndim(expected) == 1 else 1.0
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-8 * scale)


def test_rows_of_the_dense_solution_are_the_derivatives_of_its_errors():
    """G v is dg/dt and the bend d2g/dt2, by central differences, where nothing is aligned."""
    random = np.random.default_rng(5)
    body = dense_beam("cantilever", COUNT, SPRINGS["source"])
    count = len(body.x)
    body.x += random.normal(size=(count, 3)) * 0.02
    body.v, body.omega = random.normal(size=(2, count, 3))
    body.R = Rotation.random(count, random_state=6).as_matrix()
    x, R = body.x, body.R

    def errors(t: float) -> np.ndarray:
        body.x = x + t * body.v
        body.R = Rotation.from_rotvec(t * body.omega).as_matrix() @ R
        return body.rows()[1]

    step = 1e-4
    before, after, now = errors(-step), errors(step), errors(0.0)
    G, _, bends = body.rows()
    velocity = np.hstack([body.v, body.omega]).ravel()
    np.testing.assert_allclose(G @ velocity, (after - before) / (2 * step), atol=1e-6)
    np.testing.assert_allclose(bends, (after - 2 * now + before) / step**2, atol=1e-6)


def test_the_dense_matrix_is_that_of_spook():
    """[M -G^T; G Sigma] (AGX eq. 15) with Sigma = 4 eps / h^2 / (1 + 4 theta tau / h).

    theta = (3 + z) / (6 + z), z = tau h diag(G M^-1 G^T) / eps (derivations, section 10).
    """
    body = dense_beam("spinning", COUNT, SPRINGS["soft"])
    matrix, _ = body.system()
    G, _, _ = body.rows()
    one = np.diag([beam.MASS] * 3 + [beam.MASS * beam.EDGE**2 / 6] * 3)
    M = block_diag(*[one] * COUNT)
    z = 2 / 3600 / 1e-5 * np.diag(G @ np.linalg.solve(M, G.T))
    sigma = 4 * 1e-5 * 3600 / (1 + 4 * 2 * (3 + z) / (6 + z))
    np.testing.assert_allclose(matrix, np.block([[M, -G.T], [G, np.diag(sigma)]]), rtol=1e-12)
