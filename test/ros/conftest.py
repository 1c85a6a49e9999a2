# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Real ROS for the tests: a private domain for each worker, nodes as processes, a listener."""

import gc
import importlib
import importlib.util
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from grouped import ros_group

from hrpsim.ros.base.child_process import ChildProcess

LIMIT = 300.0  # [s, wall] until what hangs is given up: never what decides of a test
AGAIN = 5.0  # [s, wall] until what can be asked twice is asked again
PYTHONPATH = os.environ.get("PYTHONPATH")
HAVE_RCLPY = importlib.util.find_spec("rclpy") is not None
# Nodes that no executor serves: they answer nobody.
SILENT = ("test_listener", "hrpsim_recorder", "crane_joystick", "conformance_check")
WITHOUT_ROS = (
    "test_rclpy_is_there.py",
    "test_simulation.py",
    "test_loading.py",
    "test_placed_joints.py",
    "test_interpolation.py",
)
collect_ignore = [
    path.name
    for path in Path(__file__).parent.glob("test_*.py")
    if not HAVE_RCLPY and path.name not in WITHOUT_ROS
]


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in its own hook
def pytest_collection_modifyitems(items):
    """Let one worker run those of a module in their order: they share a node.

    Processes start slowly on a loaded machine: the time-out is for those that hang.
    """
    for item in items:
        if not is_ours(item):
            continue
        item.add_marker(ros_group(item.path.stem))
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(4 * LIMIT))


def pytest_collection_finish(session):
    """Compile the kernels before the clocks of the tests run, by one worker alone."""
    if getattr(session.config.option, "loadgroup", False):
        apart = [item.nodeid for item in session.items if "@" not in item.nodeid and is_ours(item)]
        assert not apart, f"this pytest does not keep groups of pytest-xdist together: {apart[0]}"
    if session.config.option.collectonly:
        return
    if HAVE_RCLPY and any(map(is_ours, session.items)):
        import fcntl

        name = f"hrpsim-test-warm-up-{os.getuid()}.lock"
        with open(Path(tempfile.gettempdir()) / name, "w") as one_at_a_time:
            fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
            if not _kernels_are_stored():
                subprocess.run(
                    [sys.executable, "-m", "hrpsim", "warm-up"], timeout=1800, check=True
                )


def _kernels_are_stored():
    from hrpsim.control.balance.stabilizing import stabilize
    from hrpsim.engine.compile.compiled import is_cached
    from hrpsim.engine.compile.lazy_kernels import absent_kernels
    from hrpsim.engine.step.step import advance

    return not absent_kernels() and is_cached(advance) and is_cached(stabilize)


def is_ours(item):
    """Whether a test is one of this folder."""
    return Path(__file__).parent in item.path.parents


@pytest.fixture(scope="session", autouse=True)
def private_domain():
    """Let this worker's processes meet only each other."""
    if not HAVE_RCLPY:
        yield None
        return
    from hrpsim.ros.base.domain import PrivateDomain

    before = dict(os.environ)
    with PrivateDomain() as domain:
        os.environ.update(domain.environment())
        yield domain
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module", autouse=True)
def _no_nodes_of_other_modules():
    """Take what the last module made in this process out of the graph: cycles hold nodes in it."""
    gc.collect()


class Listener:
    """A node in the test's own process that listens, publishes and calls."""

    def __init__(self):
        import rclpy
        from rclpy.context import Context
        from rclpy.executors import SingleThreadedExecutor

        self.context = Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node("test_listener", context=self.context)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)

    def publishers_of(self, name, namespace="/"):
        """Return the types of what a node publishes, by topic; none while it is not discovered.

        Asked by topic: by node, rclpy tells of one node of that name, which may be one that died.
        """
        return self._topics_of(self.node.get_publishers_info_by_topic, name, namespace)

    def subscribers_of(self, name, namespace="/"):
        """Return the types of what a node listens to, by topic, as `publishers_of`."""
        return self._topics_of(self.node.get_subscriptions_info_by_topic, name, namespace)

    def _topics_of(self, infos_of, name, namespace):
        return {
            topic: types
            for topic, types in self.node.get_topic_names_and_types()
            for info in infos_of(topic)
            if (info.node_name, info.node_namespace) == (name, namespace)
        }

    def collect(self, type_name, topic, qos=None):
        """Return a list that fills with what is published on `topic` from now on."""
        received = []
        subscription = self.node.create_subscription(
            message_type(type_name), topic, received.append, qos or 5000
        )
        assert self.wait_for(lambda: subscription.get_publisher_count() > 0), topic
        self.meet(self.node.get_publishers_info_by_topic, subscription.topic_name)
        return received

    def publisher(self, type_name, topic):
        """Return a publisher that those who listen to `topic` know: other nodes than this one."""
        publisher = self.node.create_publisher(message_type(type_name), topic, 10)
        infos_of = self.node.get_subscriptions_info_by_topic

        def is_heard():
            names = [info.node_name for info in infos_of(publisher.topic_name)]
            others = len(names) - names.count(self.node.get_name())
            return others > 0 and publisher.get_subscription_count() >= len(names)

        assert self.wait_for(is_heard), topic
        self.meet(infos_of, publisher.topic_name)
        return publisher

    def action_client(self, kind, name):
        """Return a client of an action whose server knows it, as `meet_server` sees to it."""
        from rclpy.action import ActionClient

        client = ActionClient(self.node, kind, name)
        self.meet_server(client)
        return client

    def meet_server(self, client):
        """Return once the server of an action has found its client: it answers nobody else.

        That a server is ready, as its client sees it, is not enough: rclpy gives an answer up, and
        with it the goal, if the server's side has not matched the client's after 0.1 s.
        """
        assert self.wait_for(client.server_is_ready), client._action_name
        status = self.node.resolve_topic_name(f"{client._action_name}/_action/status")
        self.meet(self.node.get_publishers_info_by_topic, status)

    def send(self, publisher, message):
        """Publish, and return once the message is in the queues of the nodes that listen."""
        publisher.publish(message)
        self.meet(self.node.get_subscriptions_info_by_topic, publisher.topic_name)

    def meet(self, infos_of, topic):
        """Return once the nodes at a topic have answered a request that is made now.

        DDS tells of what is made, and delivers what is sent, in its order: who answers knows what
        was made here before, and has what was sent.
        """

        def nodes():
            return {
                f"{info.node_namespace.rstrip('/')}/{info.node_name}"
                for info in infos_of(topic)
                if info.node_name not in SILENT
            }

        assert self.wait_for(lambda: not any("_UNKNOWN_" in name for name in nodes())), topic
        for name in nodes():
            kind = "rcl_interfaces/srv/GetParameters"
            request = message_type(kind).Request()
            self.call(f"{name}/get_parameters", request, kind, again_after=AGAIN)

    def call(
        self,
        service,
        request=None,
        type_name="std_srvs/srv/Trigger",
        timeout=LIMIT,
        again_after=math.inf,
    ):
        """Call a service and return its response.

        With `again_after` [s, wall] it is asked again each time no answer has come for so long. A
        service of a node that was killed looks ready until DDS misses it, 20 s later; what is asked
        before its successor is found reaches nobody.
        """
        service_type = message_type(type_name)
        client = self.node.create_client(service_type, service)
        end = time.monotonic() + timeout
        try:
            assert self.wait_for(client.service_is_ready), service
            while True:
                future = client.call_async(request or service_type.Request())
                left = end - time.monotonic()
                if self.wait_for(future.done, min(again_after, left)):
                    return future.result()
                assert left > again_after, f"no answer from {service}"
        finally:
            self.node.destroy_client(client)

    def set_parameter(self, name, value, node="/hrpsim"):
        """Set a parameter and return the node's answer: successful, reason."""
        from rclpy.parameter import Parameter

        kind = "rcl_interfaces/srv/SetParameters"
        request = message_type(kind).Request(
            parameters=[Parameter(name, value=value).to_parameter_msg()]
        )
        return self.call(f"{node}/set_parameters", request, kind).results[0]

    def wait_for(self, condition, timeout=LIMIT):
        """Spin until `condition()` holds; return whether it did in time."""
        deadline = time.monotonic() + timeout
        while not condition():
            if time.monotonic() > deadline:
                return False
            self._executor.spin_once(timeout_sec=0.05)
        return True

    def spin(self, duration):
        """Take in what arrives within `duration` [s, wall]."""
        deadline = time.monotonic() + duration
        self.wait_for(lambda: time.monotonic() > deadline, duration + 1.0)

    def close(self):
        self._executor.shutdown(timeout_sec=1.0)
        self.node.destroy_node()
        self.context.try_shutdown()
        self.context.destroy()  # at once: its participant would be in the way of the next test


def message_type(name):
    """Return the class of "package/msg/Name" or "package/srv/Name"."""
    package, kind, name = name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)


@pytest.fixture
def listener():
    listener = Listener()
    yield listener
    listener.close()


@pytest.fixture(scope="module")
def module_listener():
    listener = Listener()
    yield listener
    listener.close()


class Simulations:
    """Starts programs of hrpsim.ros as processes and ends them all."""

    def __init__(self, folder):
        self._folder = folder
        self.children = []

    def start_program(self, module, *arguments):
        """Start `python -m`, in a fork unless modules are to be hidden that it would have."""
        from ros.forked import ForkedProcess

        name, command = f"{module.rpartition('.')[2]}_{len(self.children)}", map(str, arguments)
        if os.environ.get("PYTHONPATH") == PYTHONPATH:
            return self.start_child(name, module, *command, kind=ForkedProcess)
        return self.start_child(name, sys.executable, "-m", module, *command)

    def start_child(self, name, *command, kind=ChildProcess):
        child = kind(name, command, self._folder / f"{name}.log", os.environ)
        self.children.append(child)
        return child

    def start(self, namespace="", remap=(), **parameters):
        """Start a simulation node and return it once it says that it is ready."""
        arguments = ["--ros-args"]
        if namespace:
            arguments += ["-r", f"__ns:={namespace}"]
        for rule in remap:
            arguments += ["-r", rule]
        for name, value in parameters.items():
            text = str(value).lower() if isinstance(value, bool) else value
            arguments += ["-p", f"{name}:={text}"]
        child = self.start_program("hrpsim.ros.simulation.node", *arguments)
        assert child.wait_for_line("ready", LIMIT), child.lines
        return child

    def stop(self):
        return {child.name: child.stop() for child in reversed(self.children)}


@pytest.fixture
def simulations(tmp_path):
    simulations = Simulations(tmp_path)
    yield simulations
    simulations.stop()


@pytest.fixture
def hide_module(monkeypatch, tmp_path):
    """Call with a module's name: processes to come cannot import it, though it is there."""

    def hide(name):
        hidden = tmp_path / f"{name}.py"
        hidden.write_text(f"raise ModuleNotFoundError('not here', name='{name}')\n")
        paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))

    return hide


@pytest.fixture(scope="module")
def module_simulations(tmp_path_factory):
    simulations = Simulations(tmp_path_factory.mktemp("simulation"))
    yield simulations
    simulations.stop()


@pytest.fixture(scope="module")
def paused_simulation(module_simulations):
    """A simulation of config/stand.yaml that all tests of a module share, paused."""
    return module_simulations.start(start_paused=True)
