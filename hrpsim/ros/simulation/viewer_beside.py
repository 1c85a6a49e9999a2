"""The viewer beside the node: the same world, in the same process, on a page of its own."""

from __future__ import annotations

import time

from hrpsim.errors import HrpsimError
from hrpsim.ros.base import parameters
from hrpsim.viewer.dragging import Grip
from hrpsim.viewer.page_faults import page_faults
from hrpsim.viewer.session import Motion
from hrpsim.viewer.viewer import Viewer

_FRAME = 1.0 / 30.0  # [s, wall]


class NodeSession:
    """What the page's buttons ask of a SimulationNode: it does what its services would do.

    The past of a node is not kept: there is no looking back.
    """

    keeps_past = False
    looking_back = 0.0

    def __init__(self, simulation):
        self._simulation = simulation
        self.world = simulation.world
        self.motion = Motion(simulation.world.time_step, self.step, rewinds=False)
        self.grip: Grip | None = None

    @property
    def playing(self) -> bool:
        """Whether time goes on."""
        return not self._simulation.paused

    @property
    def problem(self) -> str:
        """Why time does not go on, where a step could not be done."""
        return self._simulation.failure

    @property
    def speed(self) -> float:
        """Simulated seconds a wall second; assign to change it."""
        return self._simulation.pacer.real_time_factor

    @speed.setter
    def speed(self, factor: float) -> None:
        self._simulation.pacer.real_time_factor = factor

    def play(self) -> None:
        """Resume."""
        self._simulation.resume()

    def pause(self) -> None:
        """Pause."""
        self._simulation.pause()

    def step(self) -> None:
        """Pause, then make one step and publish it."""
        self._simulation.pause()
        try:
            self._simulation.step_and_publish(1)
        except HrpsimError as error:
            self._simulation.node.get_logger().error(str(error))

    def reset(self) -> None:
        """Reset."""
        self.grip = None
        self._simulation.reset()

    def grab(self, entity: str, link: str, point) -> None:
        """Let a spring hold `point` [m], in the world, of a link or body."""
        period = 1.0 / parameters.value_of(self._simulation.node, "publish_rate")
        period = max(period, self.world.time_step)
        self.grip = Grip(self.world.entities[entity], link, point, period)

    def drag_to(self, target) -> None:
        """Move the hand to `target` (3,) [m] in the world, as far as FARTHEST from the origin."""
        if self.grip is not None:
            self.grip.move_to(target)

    def release(self) -> None:
        """Let go of what is held."""
        self.grip = None

    def frame(self, duration: float) -> int:
        """Make no step: the node does."""
        return 0


class ViewerBeside:
    """Serves the world of a SimulationNode on `port`, this machine only.

    Raises ValueError where viser is not installed.
    """

    def __init__(self, simulation, port: int):
        try:
            self.viewer = Viewer(simulation.world, session=NodeSession(simulation), port=port)
        except HrpsimError as error:
            raise ValueError(f"viewer: {error}") from error
        self._next_frame = 0.0
        simulation.node.get_logger().info(f"{self.viewer.url} shows the world")

    def turn(self) -> None:
        """Do what was asked for on the page and show the world, if a frame is due."""
        now = time.monotonic()
        if now >= self._next_frame:
            self.viewer.show()
            self._next_frame = now + _FRAME

    def pull(self) -> None:
        """Apply the spring of a dragging hand to the next steps; what left the world is let go."""
        session = self.viewer.session
        if session.grip is not None:
            try:
                session.grip.pull()
            except HrpsimError as error:
                session.release()
                page_faults.note(error)

    def close(self) -> None:
        """Close the page."""
        self.viewer.stop()
