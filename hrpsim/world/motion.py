"""The acceleration of a world without constraint forces."""

from __future__ import annotations

from hrpsim.compiled import inner_kernel
from hrpsim.dynamics.articulated import accelerations, bias_forces, factorise, place_inertias
from hrpsim.dynamics.joint_forces import clear_saturated, joint_forces, mark_saturated
from hrpsim.world.status import DONE, SINGULAR
from hrpsim.world.tension import add_tension

# An actuator at its limit may take others to theirs; so often that is looked at in a step.
_SATURATION_PASSES = 4


@inner_kernel
def find_acceleration(s, horizon):
    """Write work.dv for the current poses and velocities; SINGULAR if a joint sees no inertia.

    `horizon` > 0 takes springs, dampers and gains implicitly over that time [s].
    """
    work = s.work
    clear_saturated(s.control)
    joint_forces(s.forest, s.control, s.q, s.velocity, horizon, work.effort, work.joint_inertia)
    external_forces(s.kinematics, s.wrenches, s.tally[0].wrench_count, s.articulated)
    status = accelerate(s, horizon)
    if horizon > 0.0:
        for _ in range(_SATURATION_PASSES):
            if status != DONE or not mark_saturated(
                s.forest, s.control, s.q, s.velocity, work.dv, horizon
            ):
                break
            joint_forces(
                s.forest, s.control, s.q, s.velocity, horizon, work.effort, work.joint_inertia
            )
            status = accelerate(s, horizon)
    return status


@inner_kernel
def accelerate(s, horizon):
    """Write work.dv for work.effort, work.joint_inertia and the external forces."""
    work = s.work
    place_inertias(s.forest, s.kinematics, s.articulated)
    bias_forces(s.forest, s.kinematics, s.articulated)
    if horizon > 0.0 and s.connections.shape[0] > 0:
        add_tension(s, horizon)
    singular = factorise(s.forest, s.kinematics, work.joint_inertia, s.articulated)
    if singular >= 0:
        s.tally[0].needed = singular
        return SINGULAR
    gravity = s.settings[0].gravity
    accelerations(s.forest, s.kinematics, work.effort, gravity, s.articulated, work.dv)
    return DONE


@inner_kernel
def external_forces(kinematics, wrenches, wrench_count, articulated_out):
    """Write what users push with, as spatial forces on bodies."""
    for i in range(articulated_out.shape[0]):
        external = articulated_out[i].external
        for r in range(6):
            external[r] = 0.0
    for k in range(wrench_count):
        wrench = wrenches[k]
        here = kinematics[wrench.body]
        R, p, t, f = here.R, here.p, wrench.point, wrench.force
        x = p[0] + R[0, 0] * t[0] + R[0, 1] * t[1] + R[0, 2] * t[2]
        y = p[1] + R[1, 0] * t[0] + R[1, 1] * t[1] + R[1, 2] * t[2]
        z = p[2] + R[2, 0] * t[0] + R[2, 1] * t[1] + R[2, 2] * t[2]
        external = articulated_out[wrench.body].external
        external[0] += wrench.torque[0] + y * f[2] - z * f[1]
        external[1] += wrench.torque[1] + z * f[0] - x * f[2]
        external[2] += wrench.torque[2] + x * f[1] - y * f[0]
        for r in range(3):
            external[3 + r] += f[r]
