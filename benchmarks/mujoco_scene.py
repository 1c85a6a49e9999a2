"""The same robot, floor and gains in MuJoCo, made from the same expanded URDF."""

from __future__ import annotations

import re

import mujoco
import numpy as np

import hrpsim


def mujoco_standing(model: hrpsim.Model, q: np.ndarray, time_step: float = 1e-3):
    """Return (MjModel, MjData) of the robot standing at `q` under the gains of its description."""
    urdf = re.sub(
        r"<hrpsim\b.*?</hrpsim>|<ros2_control\b.*?</ros2_control>", "", model.urdf, flags=re.S
    )
    urdf = urdf.replace(
        "</robot>",
        '<mujoco><compiler fusestatic="true" discardvisual="true" strippath="false"/></mujoco>'
        '<link name="mujoco_world"/><joint name="mujoco_root" type="floating">'
        f'<parent link="mujoco_world"/><child link="{model.base_link}"/></joint></robot>',
    )
    spec = mujoco.MjSpec.from_string(urdf)
    for geom in spec.geoms:
        geom.contype, geom.conaffinity = 0, 1
        geom.condim, geom.friction[0] = 3, 0.8
    floor = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    floor.contype, floor.conaffinity, floor.condim, floor.friction[0] = 1, 0, 3, 0.8
    system = model.system
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_FREE:
            continue
        k = model.joint(joint.name).v_index
        joint.armature = system.rotor_inertia[k]
        joint.damping[0] = system.damping[k]
        joint.stiffness[0] = system.stiffness[k]
        kp, kd = model.gains.get(joint.name, (0.0, 0.0))
        if kp > 0.0:
            actuator = spec.add_actuator(name=joint.name, target=joint.name)
            actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
            actuator.set_to_position(kp=kp, kv=kd)
    mj_model = spec.compile()
    mj_model.opt.timestep = time_step
    mj_model.opt.gravity[:] = (0.0, 0.0, -9.80665)
    data = mujoco.MjData(mj_model)
    data.qpos[:3] = q[:3]
    data.qpos[3:7] = q[[6, 3, 4, 5]]
    for joint in model.joints:
        if joint.name in [mj_model.joint(k).name for k in range(mj_model.njnt)]:
            data.joint(joint.name).qpos[:] = (
                q[joint.q_index] if joint.v_index >= 6 else data.qpos[:7]
            )
    for k in range(mj_model.nu):
        name = mj_model.actuator(k).name
        data.ctrl[k] = q[model.joint(name).q_index]
    mujoco.mj_forward(mj_model, data)
    return mj_model, data
