"""Real ROS for the tests: a private domain for each worker, nodes as processes, a listener."""

import importlib
import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

HAVE_RCLPY = importlib.util.find_spec("rclpy") is not None
collect_ignore = [
    path.name
    for path in Path(__file__).parent.glob("test_*.py")
    if not HAVE_RCLPY and path.name != "test_rclpy_is_there.py"
]


def pytest_collection_modifyitems(items):
    """Let one worker run a module in its order: its tests share a node whose time goes on.

    Processes start slowly on a loaded machine: the time-out is for those that hang.
    """
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        item.add_marker(pytest.mark.xdist_group(item.path.stem))
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(400))


def pytest_collection_finish(session):
    """Compile the kernels before the clocks of the tests run, in one worker only."""
    if HAVE_RCLPY and any(Path(__file__).parent in item.path.parents for item in session.items):
        import fcntl

        with open(Path(tempfile.gettempdir()) / "hrpsim-test-warm-up.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            subprocess.run([sys.executable, "-m", "hrpsim.cli", "warm-up"], timeout=600, check=True)


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
        """Return the types of what a node publishes, by topic; none while it is not discovered."""
        from rclpy._rclpy_pybind11 import NodeNameNonExistentError

        try:
            return dict(self.node.get_publisher_names_and_types_by_node(name, namespace))
        except NodeNameNonExistentError:
            return {}

    def collect(self, type_name, topic, qos=None):
        """Return a list that fills with the messages of `topic`, once a publisher is matched."""
        received = []
        subscription = self.node.create_subscription(
            message_type(type_name), topic, received.append, qos or 5000
        )
        assert self.wait_for(lambda: subscription.get_publisher_count() > 0), topic
        return received

    def publisher(self, type_name, topic):
        """Return a publisher that is matched with a subscription."""
        publisher = self.node.create_publisher(message_type(type_name), topic, 10)
        assert self.wait_for(lambda: publisher.get_subscription_count() > 0), topic
        return publisher

    def send(self, publisher, message):
        """Publish and give the message ample time to reach its subscribers' queues.

        (Asking the middleware for the acknowledgement takes three seconds, its heartbeat period.)
        """
        publisher.publish(message)
        time.sleep(0.1 * max(1.0, os.getloadavg()[0] / os.cpu_count()))

    def call(self, service, request=None, type_name="std_srvs/srv/Trigger", timeout=60.0):
        """Call a service and return its response."""
        service_type = message_type(type_name)
        client = self.node.create_client(service_type, service)
        try:
            assert self.wait_for(client.service_is_ready), service
            future = client.call_async(request or service_type.Request())
            assert self.wait_for(future.done, timeout), f"no answer from {service}"
            return future.result()
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

    def wait_for(self, condition, timeout=60.0):
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
        from hrpsim.ros.base.child_process import ChildProcess

        name = f"{module.rpartition('.')[2]}_{len(self.children)}"
        command = [sys.executable, "-m", module, *map(str, arguments)]
        child = ChildProcess(name, command, self._folder / f"{name}.log", os.environ)
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
        assert child.wait_for_line("ready", timeout=100.0), child.lines
        return child

    def stop(self):
        return {child.name: child.stop() for child in reversed(self.children)}


@pytest.fixture
def simulations(tmp_path):
    simulations = Simulations(tmp_path)
    yield simulations
    simulations.stop()


@pytest.fixture(scope="module")
def module_simulations(tmp_path_factory):
    simulations = Simulations(tmp_path_factory.mktemp("simulation"))
    yield simulations
    simulations.stop()


@pytest.fixture(scope="module")
def paused_simulation(module_simulations):
    """A simulation of config/stand.yaml that all tests of a module share, paused."""
    return module_simulations.start(start_paused=True)
