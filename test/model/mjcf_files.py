# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""MJCF files of our own, which between them say all that the reader knows, and MuJoCo's answers."""

import numpy as np

# Two legs on a pelvis: several joints on a body, anchors off its origin, a ball joint, `ref`,
# defaults, all kinds of geoms, a loop closed by a connect, a mimic, servos and motors.
BIPED = """<mujoco model="biped">
<compiler angle="radian" autolimits="true" meshdir="{meshes}"/>
<option timestep="0.002" gravity="0 0 -9.81" integrator="implicitfast"/>
<default>
  <joint armature="0.01" damping="0.2" frictionloss="0.05"/>
  <geom friction="0.8 0.01 0.001" contype="1" conaffinity="1"/>
  <default class="drawn"><geom contype="0" conaffinity="0" group="2" rgba="1 0 0 1"/></default>
</default>
<asset>
  <mesh name="shin" vertex="0 0 0  0.1 0 0  0 0.1 0  0 0 -0.3" face="0 2 1  0 1 3  1 2 3  0 3 2"/>
  <mesh name="toe" file="toe.obj" scale="0.5 1 1"/>
  <material name="blue" rgba="0 0 1 1"/>
</asset>
<worldbody>
  <geom name="floor" type="plane" size="0 0 0.1"/>
  <light pos="0 0 3"/>
  <body name="pelvis" pos="0 0 1.2">
    <freejoint name="root"/>
    <inertial pos="0.01 0.02 0.03" mass="8" quat="0.9 0.1 0.2 0.3" diaginertia="0.2 0.15 0.1"/>
    <geom name="hips" type="box" size="0.1 0.15 0.08" class="drawn" material="blue"/>
    <geom type="ellipsoid" size="0.1 0.2 0.1" pos="0 0 0.2" mass="3"/>
    <site name="imu" pos="0.05 0 0.1" euler="0 0.3 0"/>
    <body name="torso" pos="0 0 0.3" quat="0.7 0.1 0.1 0.7">
      <joint name="neck" type="ball" pos="0.02 0 -0.1" armature="0"/>
      <geom type="sphere" size="0.12" mass="4"/>
    </body>
    <body name="l_thigh" pos="0 0.1 -0.1" euler="0 0.2 0.1">
      <joint name="l_hip_z" axis="0 0 1" range="-0.5 0.5"/>
      <joint name="l_hip_x" axis="1 0 0" range="-0.4 0.4" pos="0 0 -0.02"/>
      <joint name="l_hip_y" axis="0 1 0.2" range="-1.5 0.5" pos="0.01 0 -0.02"
             stiffness="5" springref="-0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.06" condim="1"/>
      <body name="l_shin" pos="0 0 -0.35">
        <joint name="l_knee" axis="0 1 0" range="0 2.2" ref="0.3" actuatorfrcrange="-80 80"/>
        <geom type="mesh" mesh="shin" mass="2"/>
        <body name="l_foot" pos="0 0 -0.35">
          <joint name="l_ankle" type="slide" axis="0 0 1" pos="0 0 0.01" ref="0.02"/>
          <geom name="l_sole" type="box" size="0.12 0.06 0.02" friction="1.2"/>
          <geom type="mesh" mesh="toe" pos="0.1 0 0" mass="0.1"/>
          <site name="l_sensor"/>
        </body>
      </body>
    </body>
    <body name="r_thigh" pos="0 -0.1 -0.1">
      <joint axis="0 1 0"/>
      <geom type="cylinder" size="0.05 0.15" pos="0 0 -0.15"/>
      <body name="r_shin" pos="0 0 -0.35">
        <joint name="r_knee" axis="0 1 0"/>
        <geom type="capsule" size="0.05 0.1" pos="0 0 -0.15"/>
        <body pos="0 0 -0.35"><geom type="sphere" size="0.05"/></body>
      </body>
      <body name="rod" pos="0.1 0 0">
        <joint name="rod_hinge" axis="0 1 0"/>
        <geom type="capsule" size="0.01 0.15" pos="0 0 -0.15" class="drawn" mass="0.2"/>
      </body>
    </body>
  </body>
</worldbody>
<contact><exclude body1="l_shin" body2="r_shin"/></contact>
<equality>
  <connect name="linkage" body1="rod" body2="r_shin" anchor="0 0 -0.35"/>
  <joint joint1="rod_hinge" joint2="r_knee" polycoef="0.1 0.5 0 0 0"/>
  <weld name="later" body1="torso" body2="l_foot" active="false"/>
</equality>
<actuator>
  <position name="hip" joint="l_hip_y" kp="200" kv="10" forcerange="-90 90"/>
  <motor name="knee" joint="l_knee" gear="50" ctrlrange="-1 1" ctrllimited="true"/>
  <velocity name="ankle" joint="l_ankle" kv="30"/>
  <general name="affine" joint="l_hip_z" gainprm="100" biastype="affine" biasprm="0 -100 -4"/>
  <cylinder name="stateful" joint="r_knee" timeconst="0.1"/>
  <motor name="pull" tendon="string"/>
</actuator>
<tendon><fixed name="string"><joint joint="l_hip_x" coef="1"/></fixed></tendon>
<sensor>
  <force site="l_sensor"/><torque site="l_sensor"/><gyro site="imu"/><accelerometer site="imu"/>
  <framequat objtype="site" objname="imu"/><touch site="l_sensor"/>
</sensor>
<keyframe><key name="bent" qpos="0 0 1 1 0 0 0  0.8 0.6 0 0  0.1 0.2 -0.3 1.0 0.03  0.2 0.4 0"/>
</keyframe>
</mujoco>
"""
TOE = "v 0 0 0\nv 0.1 0 0\nv 0 0.1 0\nv 0 0 0.1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
ARM = """<mujoco model="arm"><worldbody>
<body name="stand" pos="0 0 0.5"><geom type="box" size="0.1 0.1 0.5"/>
<body name="upper" pos="0 0 0.6"><joint name="shoulder" axis="0 1 0" range="-90 90"/>
<geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
<body name="lower" pos="0.5 0 0"><joint name="elbow" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04"/></body></body></body></worldbody>
</mujoco>"""

FLOATING_ARM = """<mujoco model="arm"><default><joint armature="0.1"/></default><worldbody>
<body name="upper" pos="0 0 1" euler="0 20 30"><freejoint/>
<geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
<body name="lower" pos="0.5 0 0"><joint name="elbow" axis="0 1 0.3"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04"/></body></body></worldbody></mujoco>"""

SERVO = """<mujoco model="arm"><option timestep="0.0001" integrator="RK4"/><worldbody>
<body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping="0.3" armature="0.02"
 stiffness="3" springref="0.4"/><geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.05"/>
<body name="lower" pos="0.5 0 0"><joint name="elbow" axis="0 1 0.3" pos="0.02 0 0" ref="0.2"/>
<geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04"/></body></body></worldbody>
<actuator><position joint="elbow" kp="40" kv="2"/></actuator></mujoco>"""


def write_biped(folder):
    """Write the biped with its mesh; return its path."""
    (folder / "meshes").mkdir()
    (folder / "meshes" / "toe.obj").write_text(TOE)
    path = folder / "biped.xml"
    path.write_text(BIPED.format(meshes="meshes"))
    return path


class Counterpart:
    """MuJoCo's model of a file, put into states of hrpsim's model of the same."""

    def __init__(self, path, model):
        import mujoco

        self.mujoco, self.model = mujoco, model
        self.m = mujoco.MjModel.from_xml_path(str(path))
        self.d = mujoco.MjData(self.m)
        self.joints = {joint.name: joint for joint in model.joints}
        self.names = [
            self.m.joint(k).name or f"{self.m.body(self.m.jnt_bodyid[k]).name}_joint"
            for k in range(self.m.njnt)
        ]

    def random_state(self, rng):
        """Return q and v of hrpsim's model, within limits, and put MuJoCo into the same."""
        q, v = self.model.neutral(), rng.normal(size=self.model.nv)
        self.T = np.zeros((self.m.nv, self.model.nv))  # MuJoCo's velocities are T v
        self.rate = np.zeros(self.m.nv)  # dT/dt v
        for k, name in enumerate(self.names):
            at, dof = self.m.jnt_qposadr[k], self.m.jnt_dofadr[k]
            kind = self.m.jnt_type[k]
            if kind == 0:
                self.free(name, at, dof, q, v, rng)
            elif kind == 1:
                self.ball(name, at, dof, q, v, rng)
            else:
                joint = self.joints[name]
                low, high = self.m.jnt_range[k] if self.m.jnt_limited[k] else (-2.0, 2.0)
                self.d.qpos[at] = q[joint.q_index] = rng.uniform(low, high)
                self.T[dof, joint.v_index] = 1.0
        self.d.qvel[:] = self.T @ v
        self.mujoco.mj_forward(self.m, self.d)
        return q, v

    def free(self, name, at, dof, q, v, rng):
        """Velocities of a free joint: MuJoCo's linear one is along the world's axes."""
        joint = self.joints.get(name) or next(j for j in self.model.joints if j.joint_type == 3)
        quaternion = rng.normal(size=4)
        quaternion /= np.linalg.norm(quaternion)
        i, k = joint.q_index, joint.v_index
        self.d.qpos[at : at + 3] = q[i : i + 3] = rng.normal(size=3)
        self.d.qpos[at + 3 : at + 7], q[i + 3 : i + 7] = quaternion, np.roll(quaternion, -1)
        R = np.zeros(9)
        self.mujoco.mju_quat2Mat(R, quaternion)
        R = R.reshape(3, 3)
        self.T[dof : dof + 3, k : k + 3], self.T[dof + 3 : dof + 6, k + 3 : k + 6] = R, np.eye(3)
        self.rate[dof : dof + 3] = R @ np.cross(v[k + 3 : k + 6], v[k : k + 3])

    def ball(self, name, at, dof, q, v, rng):
        """Both velocities are angular, in the body's axes. Positions are the rotation vector."""
        joints = [self.joints[f"{name}_{letter}"] for letter in "xyz"]
        turn = rng.uniform(-2.0, 2.0, 3)
        quaternion = np.zeros(4)
        self.mujoco.mju_axisAngle2Quat(
            quaternion, turn / np.linalg.norm(turn), np.linalg.norm(turn)
        )
        self.d.qpos[at : at + 4] = quaternion
        for k, joint in enumerate(joints):
            q[joint.q_index] = turn[k]
            self.T[dof + k, joint.v_index] = 1.0

    def mass_matrix(self):
        """Return MuJoCo's inertia matrix in hrpsim's coordinates."""
        M = np.zeros((self.m.nv, self.m.nv))
        try:
            self.mujoco.mj_fullM(self.m, self.d, M)
        except TypeError:  # until 3.x
            self.mujoco.mj_fullM(self.m, M, self.d.qM)
        self._M = M
        return self.T.T @ M @ self.T

    def bias(self):
        """Return MuJoCo's bias force in hrpsim's coordinates; call `mass_matrix` first."""
        return self.T.T @ (self.d.qfrc_bias + self._M @ self.rate)
