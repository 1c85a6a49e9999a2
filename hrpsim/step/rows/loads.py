"""What constraint forces do to bodies and joints: their loads, from none to all rows'."""

from __future__ import annotations

from hrpsim.jit.compiled import inlined_kernel
from hrpsim.step.scene.scene import RK4


@inlined_kernel
def add_load(s, row, force):
    """Add what a row does with `force` to the bodies' loads and the joints' efforts."""
    if force == 0.0:
        return
    _add_to_port(s, row.port_a, row.J_a, force)
    if row.port_b >= 0:
        _add_to_port(s, row.port_b, row.J_b, force)


@inlined_kernel
def _add_to_port(s, number, J, force):
    """Add the force along J on a port."""
    port = s.ports.ports[number]
    if port.dof >= 0:
        s.work.joint_load[port.dof] += J[0] * force
    else:
        load = s.articulated[port.body].load
        for r in range(6):
            load[r] += J[r] * force


@inlined_kernel
def clear_loads(s):
    """Empty the bodies' loads and the joints' constraint efforts."""
    clear_body_loads(s)
    for k in range(s.work.joint_load.shape[0]):
        s.work.joint_load[k] = 0.0


@inlined_kernel
def clear_body_loads(s):
    """Empty the bodies' loads."""
    for i in range(s.articulated.shape[0]):
        load = s.articulated[i].load
        for r in range(6):
            load[r] = 0.0


@inlined_kernel
def hold_loads(s):
    """Keep the constraint forces on bodies for RK4's later stages."""
    if s.settings[0].integrator != RK4:
        return
    for i in range(s.articulated.shape[0]):
        held, load, here = s.work.held[i], s.articulated[i].load, s.kinematics[i]
        for r in range(6):
            held.load[r] = load[r]
        for r in range(3):
            held.p[r], held.origin[r] = here.p[r], here.origin[r]
