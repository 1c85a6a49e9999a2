# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The panel of the crane game: buttons, keys, sliders, and the score."""

import numpy as np

from evidence.crane.player import PlayedCrane
from evidence.crane.score import GOAL, in_goal
from hrpsim.model.shapes.geometry import Box
from hrpsim.viewer.panels.markdown import plain
from hrpsim.viewer.panels.workbench import bounded

# Keys that viser's camera does not use. The camera moves with W A S D Q E and turns with the
# arrows.
KEYS = {
    "I": "forward",
    "K": "back",
    "J": "left",
    "L": "right",
    "R": "up",
    "F": "down",
    "T": "turn left",
    "G": "turn right",
}
CLOSE_KEY, OPEN_KEY = "C", "O"
_HOLD_RATE = 20.0  # rate of events of a held button [Hz]
_HELD, _TYPED = 0.15, 0.3  # duration of one such event, and of one key press [s]
_SLIDERS = {"x [m]": 0.005, "y [m]": 0.005, "z [m]": 0.005, "yaw [rad]": 0.01}  # with step sizes
# Behind the table: forward is away from the player. The panel covers the right of the picture.
_LOOK_AT, _EYE = (0.03, -0.1, 0.06), (-0.72, -0.1, 0.86)  # [m]
_COLORS = {
    "goal": (126, 190, 120),
    "goal_rim": (88, 150, 88),
    "wall": (206, 188, 160),
    "heart": (224, 62, 104),
    "girder": (108, 122, 142),
}
_ARROW_SIZE = 0.3
_AIM_COLOR, _AIM_HALF_WIDTH, _AIM_FLOOR = (240, 150, 30), 0.045, 0.003  # [m]
_BESIDE_GOAL = (-0.05, 0.0, 0.02)  # of the label from the middle of the near edge [m]
_AIM_MOVES = 1e-3  # least movement of a mark [m, rad]
_HELP = "Grip things and carry them into the **goal**. Hold a button, or its key."
_UPDATE = 8  # frames between updates of texts and sliders


class CranePanel:
    """Buttons and sliders on a viewer's page, for the crane in the viewer's world.

    buttons: by direction, and "close" and "open". score: the text on the page.
    """

    def __init__(self, viewer, crane: PlayedCrane) -> None:
        self._world, self._crane = viewer.session.world, crane
        self._request = viewer.controls.request
        self._frames = 0
        camera = viewer.server.initial_camera
        camera.look_at, camera.position = _LOOK_AT, _EYE
        self._set_scene(viewer)
        gui = viewer.server.gui
        self.buttons: dict[str, object] = {}
        with gui.add_folder("Crane", order=-1.0):
            self.score = gui.add_markdown(self._score_text())
            gui.add_markdown(_HELP)
            for key, direction in KEYS.items():
                self._add_direction(gui, key, direction)
            for key, name, close in ((CLOSE_KEY, "close", True), (OPEN_KEY, "open", False)):
                self._add_claws(gui, key, name, close)
            with gui.add_folder("Hand"):
                self._add_bounds(gui)
            with gui.add_folder("Send it to"):
                self.sliders = self._add_sliders(gui)

    def update(self) -> None:
        """Show the score and the crane's position. Call this once per frame."""
        self._draw_aim()
        self._frames += 1
        if self._frames % _UPDATE:
            return
        text = self._score_text()
        if self.score.content != text:
            self.score.content = text
        if self._crane.target is None and self._world.time > 0.0:
            for slider, value in zip(self.sliders, self._crane.position):
                value = min(max(float(value), slider.min), slider.max)
                if abs(slider.value - value) > 0.5 * slider.step:
                    slider.value = value

    def _score_text(self) -> str:
        lying = in_goal(self._world)
        text = f"**{len(lying)} of {len(self._world.bodies)} in the goal**"
        return f"{text}: {', '.join(map(plain, lying))}" if lying else text

    def _set_scene(self, viewer) -> None:
        """Colour the objects, label the goal, and hide force arrows."""
        scene, drawing, within = viewer.server.scene, viewer.drawing, viewer.scene.name
        for name, color in _COLORS.items():
            drawing.paint(name, color)
        drawing.arrow_size = _ARROW_SIZE
        viewer.controls.arrows["contacts"].value = False
        for shape in self._world.fixed_shapes:
            if shape.name == GOAL:
                edge = np.array([0.5 * _length(shape.geometry), 0.0, 0.0])
                position = shape.p - shape.R @ edge + _BESIDE_GOAL
                scene.add_label(
                    f"{within}/goal",
                    GOAL,
                    position=position,
                    anchor="center-center",
                    depth_test=True,
                )
        self._aimed_at = self._hand()
        self._aim = scene.add_line_segments(
            f"{within}/aim", _aim(self._aimed_at), _AIM_COLOR, thickness=0.003
        )

    @property
    def aim(self) -> np.ndarray:
        """Return the lines of the marker below the claws (2, 2, 3) [m]."""
        return self._aim.points

    def _hand(self) -> np.ndarray:
        return self._world.robots["crane"].joint_positions[:4]

    def _draw_aim(self) -> None:
        """Move the marker below the claws."""
        hand = self._hand()
        if np.abs(hand - self._aimed_at).max() > _AIM_MOVES:
            self._aimed_at = hand
            self._aim.points = _aim(hand)

    def _add_direction(self, gui, key: str, direction: str) -> None:
        crane = self._crane
        button = gui.add_button(f"{direction.capitalize()} ({key})")
        command = gui.add_command(f"Crane: {direction}", hotkey=key)
        button.on_hold(
            lambda _: self._request(lambda: crane.press(direction, _HELD)), callback_hz=_HOLD_RATE
        )
        command.on_trigger(lambda _: self._request(lambda: crane.press(direction, _TYPED)))
        self.buttons[direction] = button

    def _add_claws(self, gui, key: str, name: str, close: bool) -> None:
        def move(_) -> None:
            self._request(lambda: setattr(self._crane, "close", close))

        self.buttons[name] = gui.add_button(f"{name.capitalize()} claws ({key})", color="orange")
        self.buttons[name].on_click(move)
        gui.add_command(f"Crane: {name} claws", hotkey=key).on_trigger(move)

    def _add_bounds(self, gui) -> None:
        crane = self._crane
        for label, name, low, high, step in (
            ("Grip [N]", "grip", 2.0, 30.0, 0.5),
            ("Speed [m/s]", "speed", 0.05, 1.0, 0.05),
            ("Accel. [m/s²]", "acceleration", 0.5, 30.0, 0.5),
        ):
            value = min(max(getattr(crane, name), low), high)
            slider = gui.add_slider(label, low, high, step, value)

            def change(_, name=name, slider=slider) -> None:
                self._request(lambda: setattr(crane, name, bounded(slider)))

            slider.on_update(change)

    def _add_sliders(self, gui) -> list:
        lowest, highest = self._crane.range
        sliders = []
        for k, (label, step) in enumerate(_SLIDERS.items()):
            start = float(self._world.robots["crane"].joint_positions[k])
            sliders.append(gui.add_slider(label, lowest[k], highest[k], step, start))

        def send(event) -> None:
            if event.client is not None:  # None if the program moves a slider
                self._request(lambda: self._crane.send_to([slider.value for slider in sliders]))

        for slider in sliders:
            slider.on_update(send)
        return sliders


def _length(geometry) -> float:
    """Return a box's length along the x axis [m], 0 for other shapes."""
    return float(geometry.lengths[0]) if isinstance(geometry, Box) else 0.0


def _aim(hand: np.ndarray) -> np.ndarray:
    """Return two lines (2, 2, 3) [m]: from the claws to the floor, and across the claws.

    hand: (x, y, z, yaw) of the claws [m, rad].
    """
    x, y, z, yaw = hand
    foot = np.array([x, y, _AIM_FLOOR])
    across = _AIM_HALF_WIDTH * np.array([-np.sin(yaw), np.cos(yaw), 0.0])
    lines = [[foot, (x, y, max(z, _AIM_FLOOR))], [foot - across, foot + across]]
    return np.array(lines, dtype=np.float32)
