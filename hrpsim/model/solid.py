"""Mass properties of uniform solids, for loose bodies."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.errors import ModelError
from hrpsim.model.geometry import Box, Capsule, Cylinder, Geometry, Sphere
from hrpsim.model.system import FREE, System, integer_array, real_array


def solid_inertia(geometry: Geometry, mass: float) -> np.ndarray:
    """Return the inertia (3, 3) of a uniform solid about its centre [kg m^2]."""
    if isinstance(geometry, Sphere):
        return np.eye(3) * (0.4 * mass * geometry.radius**2)
    if isinstance(geometry, Box):
        x, y, z = geometry.lengths
        return np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) * (mass / 12.0)
    if isinstance(geometry, Cylinder):
        r, length = geometry.radius, geometry.length
        across = mass * (3.0 * r * r + length * length) / 12.0
        return np.diag([across, across, 0.5 * mass * r * r])
    if isinstance(geometry, Capsule):
        r, length = geometry.radius, geometry.length
        cylinder, ball = math.pi * r * r * length, 4.0 / 3.0 * math.pi * r**3
        m_c = mass * cylinder / (cylinder + ball)
        m_b = mass - m_c
        across = m_c * (3.0 * r * r + length * length) / 12.0
        across += m_b * (0.4 * r * r + 0.25 * length * length + 0.375 * r * length)
        return np.diag([across, across, 0.5 * m_c * r * r + 0.4 * m_b * r * r])
    raise ModelError(
        f"a {type(geometry).__name__} has no volume, so it cannot move: make it static"
    )


def solid_system(mass: float, inertia: np.ndarray) -> System:
    """Return a forest of one free body whose frame has its origin at the centre of mass."""
    if not (np.isfinite(mass) and mass > 0.0):
        raise ModelError(f"mass must be positive and finite, got {mass!r} kg")
    inertia = real_array(inertia)
    if inertia.shape != (3, 3) or not np.isfinite(inertia).all():
        raise ModelError(f"inertia must be a finite (3, 3) matrix, got {inertia!r}")
    principal = np.linalg.eigvalsh(inertia)
    slack = 1e-9 * principal[-1]
    if principal[0] <= 0.0 or principal[0] + principal[1] < principal[2] - slack:
        raise ModelError(f"no solid has the principal moments {principal} kg m^2")
    no_limit = np.full(6, np.inf)
    return System(
        parent=integer_array([-1]),
        root=integer_array([0]),
        joint_type=integer_array([FREE]),
        q_index=integer_array([0]),
        v_index=integer_array([0]),
        placement_R=np.eye(3)[None].copy(),
        placement_p=np.zeros((1, 3)),
        mass=real_array([mass]),
        com=np.zeros((1, 3)),
        inertia=inertia[None].copy(),
        dof_body=integer_array([0] * 6),
        rotor_inertia=np.zeros(6),
        stiffness=np.zeros(6),
        rest=np.zeros(6),
        damping=np.zeros(6),
        friction=np.zeros(6),
        lower=-no_limit,
        upper=no_limit,
        velocity_limit=no_limit.copy(),
        effort_limit=no_limit.copy(),
        mimic_dof=integer_array([-1] * 6),
        mimic_ratio=np.ones(6),
        mimic_offset=np.zeros(6),
    )
