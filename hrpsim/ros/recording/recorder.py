# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Writes all topics to a bag, then plots the wrenches on the feet: `hrpsim record`.

Launch files start the program as `wrench_recorder`, because ROS programs take --ros-args.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from hrpsim.common.arguments import not_negative
from hrpsim.ros.base.program import StopSignal, run_program

_POLL_PERIOD = 0.005  # [s, wall]
_DISCOVERY_PERIOD = 0.5  # [s, wall]
_SETTLING_TIME = 1.0  # time without a new topic before the recorder is ready [s, wall]
_WORD_PERIOD = 10.0  # period of log entries about missing topics and delays [s, wall]
_DRAIN_TIME = 0.3  # time without a message after which the recorder ends [s, wall]


def main(arguments: list[str] | None = None) -> int:
    """Run the program `wrench_recorder`. Return the exit code."""
    from rclpy.utilities import remove_ros_args

    arguments = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="wrench_recorder", description=__doc__.splitlines()[0])
    add_arguments(parser)
    return record(parser.parse_args(remove_ros_args(["", *arguments])[1:]), arguments)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of a recording to the arguments of a program."""
    add = parser.add_argument
    add("--output", type=Path, required=True, metavar="BAG", help="folder to be made")
    storages = ("mcap", "sqlite3")
    add("--storage", choices=storages, default="mcap", help="format of the bag (mcap)")
    add("--plot", type=Path, metavar="PNG", help="picture of the foot wrenches, drawn at the end")
    add("--namespace", default="", help="record this namespace only, and /clock")
    awaited = (
        "topics that must have delivered a message before it is ready "
        "(/clock; with --namespace any topic in it)"
    )
    patterns = {"nargs": "*", "default": [], "metavar": "TOPIC"}
    add("--exclude", help="topics that are not recorded; * and ? are patterns", **patterns)
    images = "topics of images and point clouds to record; without it they are left out"
    add("--images", help=images, **patterns)
    add("--expect", nargs="*", metavar="TOPIC", help=awaited)
    seconds = {"type": not_negative, "metavar": "S"}
    silence = "give up if they are silent for longer [s, wall] (60)"
    add("--discovery-timeout", default=60.0, help=silence, **seconds)
    add("--time-limit", default=float("inf"), help="end after [s, wall]", **seconds)


def record(options: argparse.Namespace, ros_arguments: list[str] | None = None) -> int:
    """Record until a signal or the time limit. Return 0, or 1 if nothing could be recorded.

    The program prints "ready" after all publishers are matched and each expected topic has sent a
    message. The report at the end lists lost messages, by the publishers' sequence numbers.
    """

    def body(stop: StopSignal) -> int:
        code = _record_bag(options, stop)
        return _plot(options) if code == 0 and options.plot else code

    return run_program(body, ros_arguments or [])


def _record_bag(options, stop: StopSignal) -> int:
    import rclpy
    from rclpy.exceptions import InvalidNamespaceException
    from rosbags.rosbag2 import WriterError

    from hrpsim.ros.recording.bag_writer import BagFull, BagWriter
    from hrpsim.ros.recording.topic_recorder import TopicRecorder

    node = None
    try:
        node = rclpy.create_node("hrpsim_recorder", namespace=options.namespace)
        with BagWriter(options.output, options.storage) as bag:
            images = [*options.images, *(options.expect or ())]
            recorder = TopicRecorder(node, bag, options.exclude, images)
            stop.loop_started()
            missing = _wait_until_ready(recorder, bag, options, stop)
            if missing:
                print(f"no message on {', '.join(missing)}", file=sys.stderr, flush=True)
                return 1
            if not stop():
                print(f"ready: recording {len(recorder.topics)} topics", flush=True)
            _record(recorder, bag, options.time_limit, stop)
            bag.note_losses(recorder.losses())
        return _print_summary(options.output, recorder)
    except BagFull as error:
        print(f"{error}; {_rest_of(options.output)}", file=sys.stderr, flush=True)
        return 1
    except (WriterError, InvalidNamespaceException) as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    finally:
        if node is not None:
            node.destroy_node()


def _print_summary(bag: Path, recorder) -> int:
    """Read a closed bag again and print a summary. Return 1 if messages are missing."""
    print(recorder.summary(), flush=True)
    problem = _rest_of(bag, recorder.count)
    if problem:
        print(f"{bag}: {problem}", file=sys.stderr, flush=True)
    return 1 if problem else 0


def _rest_of(bag: Path, expected: int | None = None) -> str:
    """Return a text that says how much of a bag can be read, or "" if nothing is missing."""
    from hrpsim.bag.reader import BagError, StoredBag

    try:
        stored = StoredBag(bag)
    except (BagError, OSError):
        return "nothing of the recording can be read there"
    if stored.count == expected and not stored.missing:
        return ""
    return f"what was recorded before can be read: {stored.count} messages"


def _plot(options) -> int:
    from hrpsim.bag.foot_wrenches import plot_foot_wrenches
    from hrpsim.common.errors import HrpsimError

    try:
        print(f"wrote {plot_foot_wrenches(options.output, options.plot)}", flush=True)
    except HrpsimError as error:
        print(f"{options.plot} was not written: {error}", file=sys.stderr, flush=True)
        return 1
    return 0


def _wait_until_ready(recorder, bag, options, stop: StopSignal) -> list[str]:
    """Record while publishers are discovered. Return the expected topics that stayed silent."""
    start = settled_since = time.monotonic()
    next_word, seen = start + _WORD_PERIOD, -1
    while not stop():
        recorder.discover()
        recorder.take()
        bag.keep_if_due()
        now = time.monotonic()
        if len(recorder.topics) != seen:
            seen, settled_since = len(recorder.topics), now
        missing = _silent_topics(recorder, options)
        if not missing and recorder.all_matched() and now - settled_since > _SETTLING_TIME:
            return []
        if now > start + options.discovery_timeout:
            return missing
        if now > next_word:
            awaited = f"a message on {', '.join(missing)}" if missing else "its publishers"
            print(f"waiting for {awaited}", flush=True)
            next_word = now + _WORD_PERIOD
        time.sleep(0.05)
    return []


def _silent_topics(recorder, options) -> list[str]:
    """Return the expected topics without a message so far."""
    if options.expect is None and recorder.namespace != "/":
        return [] if recorder.has_heard_its_namespace() else [f"{recorder.namespace}*"]
    expected = ["/clock"] if options.expect is None else options.expect
    return [name for name in map(recorder.full_name, expected) if not recorder.has_heard(name)]


def _record(recorder, bag, time_limit: float, stop: StopSignal) -> None:
    end = time.monotonic() + time_limit
    next_discovery, next_word = 0.0, 0.0
    while not stop() and (now := time.monotonic()) < end:
        if now > next_discovery:
            recorder.discover()
            next_discovery = now + _DISCOVERY_PERIOD
        recorder.take()
        bag.keep_if_due()
        if now > next_word and (text := recorder.delay()):
            print(text, file=sys.stderr, flush=True)
            next_word = now + _WORD_PERIOD
        time.sleep(_POLL_PERIOD)
    last_message = time.monotonic()
    latest = last_message + 10 * _DRAIN_TIME
    while (now := time.monotonic()) < min(last_message + _DRAIN_TIME, latest):
        if recorder.take():
            last_message = now
        time.sleep(_POLL_PERIOD)


if __name__ == "__main__":
    sys.exit(main())
