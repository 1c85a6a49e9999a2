"""What a person plays the crane game with: buttons, keys, sliders, and the score."""

from __future__ import annotations

from hrpsim.control.crane_player import PlayedCrane
from hrpsim.control.crane_score import in_goal

# Keys that viser's camera leaves free: it flies with W A S D Q E and turns with the arrows.
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
_HOLD_RATE = 20.0  # a held button says so [Hz]
_HELD, _TYPED = 0.15, 0.3  # how long one such word, or one stroke of a key, lasts [s]
_SLIDERS = {"x [m]": 0.005, "y [m]": 0.005, "z [m]": 0.005, "yaw [rad]": 0.01}  # their steps
_LOOK_AT, _EYE = (0.05, 0.0, 0.08), (-0.95, 0.0, 0.75)  # [m]
_UPDATE = 8  # frames between updates of texts and sliders


class CranePanel:
    """Buttons and sliders of a viewer for the crane that plays in it.

    `buttons` by direction, and "close" and "open"; `score` is what the page shows.
    """

    def __init__(self, viewer, crane: PlayedCrane):
        self._world, self._crane = viewer.session.world, crane
        self._wish = viewer.controls.wish
        self._frames = 0
        camera = viewer.server.initial_camera  # behind the table: forward is away from the player
        camera.look_at, camera.position = _LOOK_AT, _EYE
        gui = viewer.server.gui
        self.buttons: dict[str, object] = {}
        with gui.add_folder("Crane", order=-1.0):
            self.score = gui.add_markdown("")
            for key, direction in KEYS.items():
                self._add_direction(gui, key, direction)
            for key, name, close in ((CLOSE_KEY, "close", True), (OPEN_KEY, "open", False)):
                self._add_claws(gui, key, name, close)
            self._add_bounds(gui)
            self.sliders = self._add_sliders(gui)

    def update(self) -> None:
        """Show the score, and where the crane is; to be called once a frame."""
        self._frames += 1
        if self._frames % _UPDATE:
            return
        lying = in_goal(self._world)
        text = f"**{len(lying)} in the goal** {', '.join(lying)}"
        if self.score.content != text:
            self.score.content = text
        if self._crane.target is None and self._world.time > 0.0:
            for slider, value in zip(self.sliders, self._crane.position):
                value = min(max(float(value), slider.min), slider.max)
                if abs(slider.value - value) > 0.5 * slider.step:
                    slider.value = value

    def _add_direction(self, gui, key: str, direction: str) -> None:
        crane = self._crane
        button = gui.add_button(f"{direction.capitalize()} ({key})")
        command = gui.add_command(f"Crane: {direction}", hotkey=key)
        button.on_hold(
            lambda _: self._wish(lambda: crane.press(direction, _HELD)), callback_hz=_HOLD_RATE
        )
        command.on_trigger(lambda _: self._wish(lambda: crane.press(direction, _TYPED)))
        self.buttons[direction] = button

    def _add_claws(self, gui, key: str, name: str, close: bool) -> None:
        def move(_) -> None:
            self._wish(lambda: setattr(self._crane, "close", close))

        self.buttons[name] = gui.add_button(f"{name.capitalize()} claws ({key})")
        self.buttons[name].on_click(move)
        gui.add_command(f"Crane: {name} claws", hotkey=key).on_trigger(move)

    def _add_bounds(self, gui) -> None:
        crane = self._crane
        for label, name, low, high, step in (
            ("Grip [N]", "grip", 2.0, 30.0, 0.5),
            ("Most speed [m/s]", "speed", 0.05, 1.0, 0.05),
            ("Most acceleration [m/s²]", "acceleration", 0.5, 30.0, 0.5),
        ):
            value = min(max(getattr(crane, name), low), high)
            slider = gui.add_slider(label, low, high, step, value)

            def change(_, name=name, slider=slider) -> None:
                self._wish(lambda: setattr(crane, name, slider.value))

            slider.on_update(change)

    def _add_sliders(self, gui) -> list:
        lowest, highest = self._crane.range
        sliders = []
        for k, (label, step) in enumerate(_SLIDERS.items()):
            start = float(self._world.robots["crane"].joint_positions[k])
            sliders.append(gui.add_slider(label, lowest[k], highest[k], step, start))

        def send(event) -> None:
            if event.client is not None:  # not when the program itself moves a slider
                self._wish(lambda: self._crane.send_to([slider.value for slider in sliders]))

        for slider in sliders:
            slider.on_update(send)
        return sliders
