# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compute the torques of a motion by inverse dynamics, and the motion by forward dynamics."""

import numpy as np

import hrpsim
from hrpsim import share_path
from hrpsim.analysis import Analyser

model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"))
random = np.random.default_rng(1)

# One moment: any configuration, velocity and acceleration.
q = model.neutral()
q[7:] = random.uniform(-0.5, 0.5, model.nq - 7)
v, dv = random.normal(size=model.nv), random.normal(size=model.nv)
tau = hrpsim.inverse_dynamics(model, q, v, dv)
back = hrpsim.forward_dynamics(model, q, v, tau)
print(f"round trip: {np.abs(back - dv).max():.1e} off")
assert np.allclose(back, dv, rtol=1e-9, atol=1e-9)

# The same by the equations of motion: tau = M dv + c, with c the torques at dv = 0.
M = hrpsim.mass_matrix(model, q)
c = hrpsim.inverse_dynamics(model, q, v, np.zeros(model.nv))
assert np.allclose(tau, M @ dv + c, rtol=1e-9, atol=1e-9)

# A whole motion, the left foot fixed: a squat of 0.5 Hz.
time = np.arange(0.0, 2.0, 0.005)
phase, rate = np.pi * time, np.pi
q, v, dv = (np.zeros((len(time), n)) for n in (model.nq, model.nv, model.nv))
q[:] = model.neutral()
for name, factor in (("JOINT2", -0.5), ("JOINT3", 1.0), ("JOINT4", -0.5)):
    for leg in ("RLEG_", "LLEG_"):
        joint = model.joint(leg + name)
        q[:, joint.q_index] = 0.4 * factor * (1.0 - np.cos(phase))
        v[:, joint.v_index] = 0.4 * factor * rate * np.sin(phase)
        dv[:, joint.v_index] = 0.4 * factor * rate**2 * np.cos(phase)
motion = Analyser(model).analyse(q, v, dv, "l_sole")

# The floor's force is the weight and the momentum's rate.
expected = model.mass * (motion.samples["com_acceleration"] + (0.0, 0.0, 9.80665))
assert np.allclose(motion.samples["force"], expected, atol=1e-6)
knee = model.joint("LLEG_JOINT3").v_index
print(f"largest torque of the standing knee: {np.abs(motion.tau[:, knee]).max():.1f} Nm")
