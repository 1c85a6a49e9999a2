"""The ROS node at 1 kHz: losses, processor time and jitter; lockstep's round trips.

    python benchmarks/bench_ros_node.py [soak] [record] [lockstep] [--duration 60] [--steps 100000]

soak: all topics of hrp2_like (36 joints), transforms at 100 Hz, a process for each subscriber; the
publishers' sequence numbers and the stamps must leave nothing out. record: the same with the one
process of `hrpsim record`. lockstep: a control period of 1 ms, as fast as it goes, against a
controller in another process: a plain one that hears joint_states only, and `hrpsim_controller`,
which also hears the sensors. Load averages stand beside the figures: on a shared machine compare
only quiet runs. Exit status 1 if anything was lost.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from hrpsim.control.controller import Command, Controller, State
from hrpsim.resources import share_path
from hrpsim.ros.child_process import ChildProcess
from hrpsim.ros.domain import PrivateDomain

WORLD = "config/stand.yaml"
TIME_STEP_NS = 1_000_000
DRAIN = 4.0  # [s, wall]: what got lost on the way is sent again within 3 s
SETTLING = 3.0  # [s, wall] of running before anything is measured
START_LIMIT = 120.0  # [s, wall]
TICKS = os.sysconf("SC_CLK_TCK")
UNTIMED = {"/tf_static", "/robot_description", "/diagnostics", "/rosout", "/parameter_events"}
UNREPEATED = {"/tf", "/contact_markers"}  # while the node is paused


class Processes:
    """Processes of one measurement, in a ROS domain of their own; all have ended afterwards."""

    def __init__(self):
        self._domain = PrivateDomain()
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        self._children: list[ChildProcess] = []

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *exception) -> None:
        for child in reversed(self._children):
            child.stop()
        self._domain.release()
        self._folder.cleanup()

    def start(self, name: str, *arguments) -> ChildProcess:
        """Start Python with `arguments` and wait until it says that it is ready."""
        child = self.begin(name, *arguments)
        if not child.wait_for_line("ready", START_LIMIT):
            raise SystemExit("\n".join([f"{name} did not start", *child.lines]))
        return child

    def begin(self, name: str, *arguments) -> ChildProcess:
        """Start Python with `arguments`."""
        log = self.folder / f"{name.strip('/').replace('/', '_')}.log"
        command = [sys.executable, *map(str, arguments)]
        child = ChildProcess(name, command, log, self._domain.environment())
        self._children.append(child)
        return child

    def node(self, **parameters) -> ChildProcess:
        """Start the simulation node, which waits for resume, in this file's `node` mode."""
        world = share_path(WORLD)
        given = {"world_file": world, "xacro_arguments": "['bush:=true']", "start_paused": "true"}
        ros = [f"{name}:={value}" for name, value in (given | parameters).items()]
        return self.start("node", __file__, "node", *(w for p in ros for w in ("-p", p)))

    def graph(self) -> Graph:
        """Return this process's own node among them."""
        return Graph(self._domain.domain_id)


class Graph:
    """A node that asks which topics there are and pauses and resumes the simulation."""

    def __init__(self, domain_id: int):
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor

        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain_id)
        self._node = rclpy.create_node("bench", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)

    def __enter__(self) -> Graph:
        return self

    def __exit__(self, *exception) -> None:
        self._executor.shutdown(timeout_sec=1.0)
        self._node.destroy_node()
        self._context.try_shutdown()

    def topics(self) -> dict[str, str]:
        """Return what the simulation node publishes, by name."""
        deadline = time.monotonic() + 10.0
        while time.monotonic() < deadline:
            names = self._node.get_node_names()
            if "hrpsim" in names:
                found = self._node.get_publisher_names_and_types_by_node("hrpsim", "/")
                topics = {topic: types[0] for topic, types in found}
                if {"/clock", "/joint_states", "/tf"} <= topics.keys():
                    return topics
            time.sleep(0.1)
        raise SystemExit("the simulation node does not show its topics")

    def call(self, service: str) -> None:
        """Call a std_srvs/Trigger service of the simulation node."""
        from std_srvs.srv import Trigger

        client = self._node.create_client(Trigger, f"/hrpsim/{service}")
        if not client.wait_for_service(10.0):
            raise SystemExit(f"no service {service}")
        future = client.call_async(Trigger.Request())
        self._executor.spin_until_future_complete(future, 20.0)
        if not future.done() or not future.result().success:
            raise SystemExit(f"{service} failed")
        self._node.destroy_client(client)


def soak(duration: float) -> bool:
    """Measure a node whose topics are all heard, each by a process; return if nothing was lost."""
    with Processes() as processes, _soaking(processes) as (node, graph):
        listeners = {
            topic: processes.start(topic, __file__, "listen", topic, kind)
            for topic, kind in graph.topics().items()
            if topic not in ("/rosout", "/parameter_events")
        }
        shares = _let_run(node, graph, duration)
        reports = {}
        for topic, child in listeners.items():
            child.stop()
            reports[topic] = json.loads(child.lines[-1])
    _print_shares(f"soak, {len(reports)} subscriber processes", shares)
    jitter = reports["/clock"]["jitter"]
    print(f"  period of /clock, 1 ms wanted: {_percentiles(jitter)} us off")
    whole = True
    for topic, report in sorted(reports.items()):
        lost, gaps = report["lost"], report["gaps"]
        whole &= lost == 0 and gaps == 0 and report["count"] > 0
        print(f"  {topic:20} {report['count']:8d} messages, {lost} lost, {gaps} gaps in stamps")
    ends = {report["last"] for report in reports.values() if report["period"] == TIME_STEP_NS}
    print(f"  last stamp {', '.join(f'{1e-9 * end:.3f}' for end in sorted(ends))} s")
    return whole and len(ends) == 1


def record(duration: float) -> bool:
    """Measure a node whose topics `hrpsim record` records; return if nothing was lost."""
    from hrpsim.ros.bag_reader import lost_messages, message_counts

    with Processes() as processes, _soaking(processes) as (node, graph):
        bag = processes.folder / "bag"
        timed = [topic for topic in graph.topics() if topic not in UNTIMED]
        repeated = [topic for topic in timed if topic not in UNREPEATED]
        recorder = processes.start(
            "recorder", *("-m", "hrpsim.cli", "record", "--output", bag, "--expect", *repeated)
        )
        shares = _let_run(node, graph, duration, recorder)
        recorder.stop(timeout=60.0)
        counts, lost = message_counts(bag), lost_messages(bag)
        size = sum(file.stat().st_size for file in bag.iterdir())
    _print_shares(f"hrpsim record, {size / 2**20:.0f} MB", shares)
    for topic in timed:
        print(f"  {topic:20} {counts[topic]:8d} messages, {lost[topic]} lost")
    return not any(lost[topic] for topic in timed)


class _soaking:
    """A node at 1 kHz in real time, paused, and the graph that it is in."""

    def __init__(self, processes: Processes):
        self._processes = processes

    def __enter__(self) -> tuple[ChildProcess, Graph]:
        rates = {"publish_rate": 1000.0, "tf_rate": 100.0, "real_time_factor": 1.0}
        node = self._processes.node(**rates)
        self._graph = self._processes.graph()
        return node, self._graph

    def __exit__(self, *exception) -> None:
        self._graph.__exit__()


def _let_run(node, graph, duration: float, other=None) -> dict[str, float]:
    """Run for `duration` [s, wall] and drain; return processor time as shares of a core."""
    before = os.getloadavg()[0]
    graph.call("resume")
    time.sleep(SETTLING)
    children = {"node": node} | ({"recorder": other} if other else {})
    begin = {name: _processor_time(child.pid) for name, child in children.items()}
    start = time.monotonic()
    time.sleep(duration)
    elapsed = time.monotonic() - start
    shares = {
        name: (_processor_time(child.pid) - begin[name]) / elapsed
        for name, child in children.items()
    }
    load = os.getloadavg()[0]
    graph.call("pause")
    time.sleep(DRAIN)
    return {"seconds": elapsed, **shares, "load before": before, "load at the end": load}


def _processor_time(pid: int) -> float:
    """Return the processor time of a process, all threads [s]."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _print_shares(title: str, shares: dict[str, float]) -> None:
    physics = 1000.0 * _step_time()
    print(f"\n{title}, {shares['seconds']:.0f} s; load average {_loads(shares)}")
    print(
        f"  node {shares['node']:.1%} of a core, of that physics {physics:.1%} "
        f"(measured alone); beyond physics {shares['node'] - physics:.1%}"
    )
    if "recorder" in shares:
        print(f"  recorder {shares['recorder']:.1%} of a core")


def _loads(shares: dict[str, float]) -> str:
    return f"{shares['load before']:.1f} before, {shares['load at the end']:.1f} at the end"


def _step_time() -> float:
    """Return the processor time of one step of the same world, one call a step [s]."""
    from hrpsim.world.load import load_world

    world = load_world(share_path(WORLD), xacro_arguments={"bush": "true"})
    world.step(1000)
    begin = time.process_time()
    for _ in range(10_000):
        world.step()
    return (time.process_time() - begin) / 10_000


def _percentiles(values) -> str:
    median, p99 = np.percentile(values, (50, 99))
    return f"median {median:.0f}, p99 {p99:.0f}, longest {np.max(values):.0f}"


def lockstep(steps: int) -> bool:
    """Measure round trips with two controllers; return if every step had its command."""
    own = [__file__, "controller"]
    host = ["-m", "hrpsim.ros.controller_node", "--ros-args", "-p", "lockstep:=true"]
    host += ["-p", f"controller:={__file__}:Hold"]
    runs = [("a plain controller", own), ("hrpsim_controller", host)]
    return all([_lockstep_with(*run, steps) for run in runs])


def _lockstep_with(name: str, command: list[str], steps: int) -> bool:
    with Processes() as processes:
        node = processes.node(
            lockstep="true",
            control_period=0.001,
            publish_rate=1000.0,
            real_time_factor=0.0,
            duration=steps * 1e-3,
        )
        controller = processes.start("controller", *command)
        before = os.getloadavg()[0]
        with processes.graph() as graph:
            graph.call("resume")
            start = time.monotonic()
            if node.wait(timeout=60.0 + 3e-3 * steps) != 0:
                print("\n".join(["the node did not come to its end", *node.lines[-5:]]))
                return False
            took = time.monotonic() - start
        load = os.getloadavg()[0]
        controller.stop()
    report = json.loads(node.lines[-1])
    print(
        f"\nlockstep at 1 ms with {name}: {report['steps']} steps in {took:.1f} s; "
        f"load average {before:.1f} before, {load:.1f} at the end"
    )
    print(f"  round trip [us]: {report['trips']}")
    print(f"  {report['accepted']} commands accepted, {report['rejected']} rejected, ", end="")
    print(f"{report['held']} ticks without, {report['stalls']} stalls")
    for line in controller.lines[1:]:
        print(f"  controller {line}")
        if line.startswith("heard") and not line.endswith(", 0 out of order"):
            return False
    return report["accepted"] == report["steps"] == steps and not report["rejected"]


def run_node(arguments: list[str]) -> None:
    """Be `hrpsim_node`; print at the end what its lockstep counted."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from hrpsim.ros.simulation_node import SimulationNode
    from hrpsim.ros.stop_signal import StopSignal
    from hrpsim.ros.world_setup import world_from_parameters

    with StopSignal() as stop:
        rclpy.init(args=["--ros-args", *arguments], signal_handler_options=SignalHandlerOptions.NO)
        simulation = SimulationNode(world_from_parameters)
        stop.loop_started()
        robot, trips = simulation.robots[0], []
        if robot.lockstep:
            take = robot.lockstep.take_round_trips

            def taken_and_kept():
                latest = take()
                trips.extend(latest)
                return latest

            robot.lockstep.take_round_trips = taken_and_kept
        print("ready", flush=True)
        simulation.run(stop)
        if robot.lockstep:
            robot.lockstep.take_round_trips()
            report = {
                "steps": simulation.clock.steps,
                "accepted": robot.commands.accepted_count,
                "rejected": robot.rejections.count,
                "held": robot.lockstep.held_count,
                "stalls": robot.lockstep.stall_count,
                "trips": _percentiles(1e6 * np.array(trips[1:])),  # the first began paused
            }
            print(json.dumps(report), flush=True)
        simulation.destroy()
        rclpy.shutdown()


def run_listener(topic: str, type_name: str) -> None:
    """Hear one topic until a signal; print how many messages came and what is missing."""
    import importlib

    import rclpy
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from rclpy.serialization import deserialize_message
    from rclpy.signals import SignalHandlerOptions

    from hrpsim.ros.polling import PolledSubscription
    from hrpsim.ros.stop_signal import StopSignal

    package, _, name = type_name.split("/")
    kind = getattr(importlib.import_module(f"{package}.msg"), name)
    latched = topic in ("/tf_static", "/robot_description")
    durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
    with StopSignal() as stop:
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node("listener_" + topic.strip("/").replace("/", "_"))
        quality = QoSProfile(depth=5000, durability=durability)
        subscription = PolledSubscription(node, kind, topic, quality, raw=True)
        while not subscription.publisher_count() and not stop():
            time.sleep(0.01)
        stop.loop_started()
        print("ready", flush=True)
        numbers, sent, stamps = [], [], []
        while not stop():
            for data, info in subscription.take_all():
                numbers.append(info["publication_sequence_number"])
                sent.append(info["source_timestamp"])
                if topic not in UNTIMED:
                    stamps.append(_stamp(deserialize_message(data, kind)))
            time.sleep(0.005)
        node.destroy_node()
        rclpy.shutdown()
    print(json.dumps(_missing(numbers, sent, stamps)), flush=True)


def _stamp(message) -> int | None:
    """Return the stamp of a message [ns]; None for a list without elements."""
    for field in ("transforms", "markers"):
        if hasattr(message, field):
            message = next(iter(getattr(message, field)), None)
    if message is None:
        return None
    stamp = message.clock if hasattr(message, "clock") else message.header.stamp
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def _missing(numbers: list[int], sent: list[int], stamps: list[int | None]) -> dict:
    """Return what sequence numbers and stamps leave out, and how far from 1 ms the periods were.

    While the node is paused, stamps are repeated at 10 Hz; those periods do not count.
    """
    steps = np.diff(np.array(numbers, dtype=np.int64))
    times = np.array([stamp for stamp in stamps if stamp], dtype=np.int64)
    periods = np.diff(times)
    moving = periods[periods != 0]
    regular = int(np.median(moving)) if moving.size else 0
    lost = int(np.sum(steps[steps > 1] - 1)) + int(np.sum(steps < 1))
    jitter = [0.0]
    if regular == TIME_STEP_NS:
        between = np.diff(np.array(sent, dtype=np.int64)[-len(times) :])[periods == TIME_STEP_NS]
        jitter = (np.abs(between[1000:] - TIME_STEP_NS) / 1e3).tolist()
    return {
        "count": len(numbers),
        "last": int(times[-1]) if times.size else 0,
        "period": regular,
        "lost": lost,
        "gaps": int(np.sum(moving != regular)),
        "jitter": jitter,
    }


def run_controller() -> None:
    """Answer each state of joint_states with its stamp; print at the end what was missing."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions
    from sensor_msgs.msg import JointState

    from hrpsim.control.controller import controlled_joints
    from hrpsim.model.load import load_model
    from hrpsim.ros.polling import PolledSubscription
    from hrpsim.ros.stop_signal import StopSignal

    with StopSignal() as stop:
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        node = rclpy.create_node("plain_controller")
        states = PolledSubscription(node, JointState, "joint_states", 10)
        publisher = node.create_publisher(JointState, "joint_commands", 10)
        while not (states.publisher_count() and publisher.get_subscription_count()):
            time.sleep(0.01)
        stop.loop_started()
        print("ready", flush=True)
        model = load_model(share_path("urdf/hrp2_like.urdf.xacro"))
        command = JointState(name=controlled_joints(model))
        last, count, disorder = None, 0, 0
        while not stop():
            states.wait(0.1)
            for state, _ in states.take_all():
                stamp = state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec
                if last is None:
                    places = [state.name.index(name) for name in command.name]
                    command.position = [state.position[place] for place in places]
                elif stamp not in (last, last + TIME_STEP_NS):
                    disorder += 1
                count += stamp != last
                last = stamp
                command.header.stamp = state.header.stamp
                publisher.publish(command)
        node.destroy_node()
        rclpy.shutdown()
    print(f"heard {count} states, {disorder} out of order", flush=True)


class Hold(Controller):
    """Holds the first positions that it hears."""

    period = 0.001

    def initialize(self, state: State) -> None:
        """Remember the positions."""
        self._positions = state.joint_positions

    def control(self, state: State) -> Command:
        """Return them."""
        return Command(positions=self._positions)


def main() -> int:
    """Measure what is asked for, or everything; return 1 if anything was lost."""
    modes = {"node": run_node, "listen": run_listener, "controller": run_controller}
    if sys.argv[1:2] and sys.argv[1] in modes:
        mode, arguments = sys.argv[1], sys.argv[2:]
        modes[mode](*([arguments] if mode == "node" else arguments))
        return 0
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", metavar="soak|record|lockstep")
    parser.add_argument("--duration", type=float, default=60.0, help="of soak and record [s]")
    parser.add_argument("--steps", type=int, default=100_000, help="of lockstep")
    options = parser.parse_args()
    runs = {
        "soak": lambda: soak(options.duration),
        "record": lambda: record(options.duration),
        "lockstep": lambda: lockstep(options.steps),
    }
    unknown = set(options.what) - set(runs)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}; there are {', '.join(runs)}")
    return 0 if all([runs[name]() for name in options.what or runs]) else 1


if __name__ == "__main__":
    sys.exit(main())
