"""Bags that were not ended or lost some bytes: what is whole is read, what is missing is said."""

import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from hrpsim.bag import reader as bag_reader
from hrpsim.bag.files import StoredBag
from hrpsim.bag.reader import BagError, lost_messages, message_counts, messages, points, topic_types
from hrpsim.cli import main

TYPES = get_typestore(Stores.ROS2_JAZZY)
POINT = "geometry_msgs/msg/PointStamped"
FIRST = 10**18  # time of reception of the first message [ns]


def point(number):
    types = TYPES.types
    stamp = types["builtin_interfaces/msg/Time"](number, 0)
    header = types["std_msgs/msg/Header"](stamp, "floor")
    place = types["geometry_msgs/msg/Point"](float(number), 0.0, 0.0)
    return bytes(TYPES.serialize_cdr(types[POINT](header, place), POINT))


def begun(path, storage, count=300, kept=50):
    """Return the Writer of a bag that has handed `count` points over, `kept` at a time."""
    writer = Writer(path, version=9, storage_plugin=StoragePlugin[storage.upper()])
    writer.open()
    connections = [
        writer.add_connection(name, POINT, typestore=TYPES) for name in ("/zmp", "/other")
    ]
    for number in range(count):
        for connection in connections:
            writer.write(connection, FIRST + number, point(number))
        if (number + 1) % kept == 0:
            keep(writer.storage)
    return writer


def keep(storage):
    if hasattr(storage, "conn"):
        storage.conn.commit()
    else:
        storage.close_chunk()
        storage.bio.flush()


@pytest.fixture(autouse=True)
def say_again():
    bag_reader._said.clear()


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_what_was_handed_over_is_read_when_the_recorder_died(tmp_path, storage, capsys):
    """Law: a bag without index and metadata.yaml holds all that its recorder had handed over."""
    writer = begun(tmp_path / "bag", storage, count=330)
    shutil.copytree(tmp_path / "bag", tmp_path / "left")  # as a kill would leave it
    writer.abort()
    bag = tmp_path / "left"
    assert message_counts(bag) == {"/zmp": 300, "/other": 300}
    assert points(bag, "zmp").position[:, 0].tolist() == list(range(300))
    assert lost_messages(bag) == {}
    assert topic_types(bag) == {"/other": POINT, "/zmp": POINT}
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "600 messages can be read" in said


def test_a_cut_in_the_file_costs_what_lies_behind_it(tmp_path, capsys):
    """Law: the records before the first that is not whole are read, wherever the cut is."""
    begun(tmp_path / "bag", "mcap").close()
    file = tmp_path / "bag" / "bag.mcap"
    whole = file.read_bytes()
    counts = []
    for part in np.linspace(0.2, 0.99, 7):
        file.write_bytes(whole[: int(part * len(whole))])
        bag_reader._said.clear()
        found = points(tmp_path / "bag", "zmp").position[:, 0].tolist()
        assert found == list(range(len(found)))
        assert "can be read" in capsys.readouterr().err
        counts.append(len(found))
    assert counts == sorted(counts) and counts[0] >= 50 and counts[-1] == 300


def test_a_damaged_chunk_costs_itself(tmp_path, capsys):
    """Law: a chunk whose checksum is another one is left out; those behind it are read."""
    begun(tmp_path / "bag", "mcap").close()
    file = tmp_path / "bag" / "bag.mcap"
    data = bytearray(file.read_bytes())
    data[data.index(point(120))] ^= 0xFF  # rosbags' own chunks carry no checksum: break the record
    place = data.index(point(220)[4:])
    data[place - 31 : place - 23] = b"\xff" * 8  # the length of a message's record
    file.write_bytes(data)
    (tmp_path / "bag" / "metadata.yaml").unlink()
    stored = StoredBag(tmp_path / "bag")
    assert 500 < stored.count < 600 and stored.missing


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@pytest.mark.parametrize(
    "was, becomes",
    [
        (b"Time stamp", b"Time st`mp"),  # no name
        (b"Point point", b"Paint point"),  # a type that is not defined
        (b"Point point", b"Point paint"),  # a field that the type has not
        (b"float64 y", b"string  y"),  # a number that is none
        (b"int32 sec", b"int3? sec"),  # no type
    ],
)
def test_a_damaged_definition_of_a_type_is_told_in_one_line(tmp_path, storage, was, becomes):
    """Law: a bag whose definition of a type is damaged is refused by a BagError of one line."""
    writer = begun(tmp_path / "bag", storage, count=20, kept=5)
    writer.close()
    (file,) = (tmp_path / "bag").glob("bag.*")
    content = file.read_bytes()
    assert was in content
    file.write_bytes(content.replace(was, becomes))
    with pytest.raises(BagError) as refused:
        points(tmp_path / "bag", "zmp")
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 1000


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
@settings(max_examples=60)
@given(data=st.data())
def test_no_damage_is_more_than_an_error_of_one_line(tmp_path_factory, storage, data):
    """Law: whatever bytes a bag has lost, it is read or refused by a BagError of one line."""
    folder = tmp_path_factory.mktemp("damaged")
    begun(folder / "bag", storage, count=20, kept=5).close()
    name = data.draw(st.sampled_from(["metadata.yaml", "bag"]))
    (file,) = (folder / "bag").glob(f"{name}*")
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        place = data.draw(st.integers(0, len(content) - 1))
        length = data.draw(st.sampled_from([1, 4, 64]))
        kind = data.draw(st.sampled_from(["flip", "cut", "drop", "ones"]))
        if kind == "flip":
            content[place] ^= 1 << data.draw(st.integers(0, 7))
        elif kind == "cut":
            del content[max(place, 1) :]
        elif kind == "drop":
            del content[max(place, 1) : place + length]
        else:
            content[place : place + length] = b"\xff" * len(content[place : place + length])
    file.write_bytes(content)
    for read in (
        message_counts,
        topic_types,
        lost_messages,
        lambda bag: list(messages(bag, "zmp")),
        lambda bag: points(bag, "zmp"),
    ):
        try:
            read(folder / "bag")
        except BagError as error:
            assert len(str(error)) < 3000
    shutil.rmtree(folder)


def test_the_command_tells_in_one_line(tmp_path, capsys):
    """Law: wrench-plot of a bag that holds nothing whole ends with status 1 and a line."""
    (tmp_path / "bag").mkdir()
    for name in ("bag.mcap", "bag.db3"):
        (tmp_path / "bag" / name).write_bytes(b"\x89MCAP0\r\n" + b"\x06" + b"\xff" * 30)
    assert main(["wrench-plot", str(tmp_path / "bag")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hrpsim: ") and error.count("\n") == 1 and "bag.mcap" in error
