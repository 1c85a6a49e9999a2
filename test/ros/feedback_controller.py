# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers for test_lockstep.py: one that uses everything that is measured, and bad ones."""

import numpy as np

from hrpsim.control import EFFORT, VELOCITY, Command, Controller, controlled_joints, joint_modes


class Feedback(Controller):
    """Sways, with feedback from encoders, efforts, foot wrenches and the IMU on every command."""

    def configure(self, model, parameters):
        joints = controlled_joints(model)
        self.ankles = [joints.index(f"{side}LEG_JOINT4") for side in "LR"]
        self.hips = [joints.index(f"{side}LEG_JOINT1") for side in "LR"]
        self.ticks = parameters.get("ticks", 0)

    def initialize(self, state):
        print("initialize", flush=True)
        self.held, self.tick = state.joint_positions, 0

    def control(self, state):
        imu = state.imus["imu"]
        pitch, rate = 2.0 * imu.orientation[1], imu.angular_velocity
        target, effort = self.held.copy(), np.zeros(len(self.held))
        target[self.hips] += 0.02 * np.sin(0.02 * self.tick) + 1e-3 * imu.linear_acceleration[1]
        for joint, foot in zip(self.ankles, ("lfsensor", "rfsensor")):
            target[joint] += 0.2 * pitch + 0.01 * rate[1] + 1e-4 * state.wrenches[foot][4]
            effort[joint] = -0.1 * state.joint_velocities[joint] - 1e-3 * state.joint_efforts[joint]
        self.tick += 1
        self.finished = self.tick == self.ticks
        return Command(positions=target, efforts=effort)


class Demanding(Feedback):
    """Asks for the true base, noise and delays, and commands joints in different modes."""

    needs = {"base": "true", "noise": {"gyro": 0.01, "seed": 3}, "delays": {"imu": 0.005}}

    def configure(self, model, parameters):
        super().configure(model, parameters)
        self.modes = joint_modes(model, {"?ARM_JOINT0": EFFORT, "HEAD_*": VELOCITY})

    def control(self, state):
        positions, _, efforts, _ = super().control(state)
        base, efforts = state.base, efforts + 0.1
        positions[self.hips] += 0.01 * base.angular_velocity[0] + 0.1 * base.orientation[0]
        velocities = np.full(len(positions), 0.01 * base.linear_velocity[1])
        return Command(positions, velocities, efforts, self.modes)


class Guessing(Demanding):
    """Asks for an estimate of the base in place of the truth."""

    needs = Demanding.needs | {"base": "estimated"}


class Touching(Feedback):
    """Feels true contacts and the zero-moment point, the contacts late, on every command."""

    needs = {"contacts": ["l_sole", "RLEG_SOLE"], "zmp": True, "delays": {"contacts": 0.01}}

    def control(self, state):
        positions, _, efforts, _ = super().control(state)
        for joint, link in zip(self.ankles, self.needs["contacts"]):
            contact = state.contacts[link]
            positions[joint] += 1e-5 * contact.torque[1] + 1e-6 * contact.force[2]
            efforts[joint] += (contact.points * contact.forces).sum()
        positions[self.hips] += 0.1 * state.zmp[:2]
        return Command(positions=positions, efforts=efforts)


class Slow(Feedback):
    """Has a period that the node's control period does not know."""

    period = 0.007


class Restless(Feedback):
    """Fails when it is stopped."""

    def stop(self):
        print("stop", flush=True)
        raise OSError("cannot stand still")


class Clumsy(Feedback):
    """Trips over its own feet."""

    def control(self, state):
        return self.step_over(state)

    def step_over(self, state):
        return state.wrenches["third_foot"]


class Dizzy(Feedback):
    """Commands what no joint can do."""

    def control(self, state):
        return Command(positions=self.held * np.nan)
