# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Limits of the contents of untrusted files. Each error names the limit.

The limits are well above the needs of robots, worlds and motions. A file at a limit is read within
seconds and with less than 1 GB.
"""

# Text
MESSAGE_LENGTH = 1500  # characters of an error's message
WARNING_LENGTH = 10_000  # of a warning, which lists all that is not simulated
SHOWN_LENGTH = 120  # characters of an offending value in it
TEXT_LINES = 4_000_000  # of a file in UTF-8
XML_SIZE = 32_000_000  # bytes of a URDF, xacro or SRDF
XML_ELEMENTS = 400_000
YAML_SIZE = 4_000_000  # bytes
YAML_DEPTH = 60  # mappings and lists within each other
YAML_NODES = 400_000  # as written
YAML_EXPANDED = 800_000  # nodes after expanding aliases
YAML_ALIASES = 1_000

JSON_VALUES = 4_000_000

# Decoders of other packages, which run in a child process
DECODER_MEMORY = 800_000_000  # bytes beyond what the process has when it begins
DECODER_TIME = 4.0  # of the processor [s], and
DECODER_RATE = 4_000_000  # bytes of a file for each further second
DECODER_WAIT = 300.0  # [s, wall]
DECODER_RESULT = 600_000_000  # bytes of what a decoder returns

# Networks in ONNX
NETWORK_SIZE = 2_000_000_000  # bytes of a file

# MJCF, which MuJoCo compiles in a separate process
MJCF_TIME = 60.0  # of the processor [s], at most: 5 s and 2 s for each MB of its files
MJCF_MEMORY = 6_000_000_000  # bytes, at most: 1.2 GB and 40 times the size of its files
MJCF_WAIT = 600.0  # [s, wall]: a busy machine may take ten times as long

# SDF, all files that it includes counted
SDF_PARTS = 50_000  # links, joints, frames and models
SDF_DEPTH = 30  # models within each other

# VRML
VRML_DEPTH = 200  # nodes within each other
VRML_TOKENS = 4_000_000  # words of a file, lists of numbers not counted

# Meshes, tables, motions
MESH_SIZE = 64_000_000  # bytes of a file: 250 000 triangles as text, 1 200 000 in binary STL
MESH_PARTS = 5_000_000  # triangles, and 100 a part, that are tested for lying within other parts
HULL_POINTS = 200_000  # different vertices of a hull's input
MESH_ELEMENTS = 1_500_000  # vertices, and triangles, before they are reduced
FIELD_HEIGHTS = 16_000_000  # of a height field: 4000 x 4000, about 0.8 GB
IMAGE_PIXELS = 40_000_000  # of a picture that a mesh shows
TABLE_SIZE = 64_000_000  # bytes of a .npy or .csv
TABLE_VALUES = 1_000_000  # of a design in CSV
SEQUENCE_SIZE = 128_000_000  # bytes of one file of a set, or of a .csv
SIGNALS_SIZE = 2_000_000_000  # bytes of a recording of signals, unpacked
SEQUENCE_SAMPLES = 2_000_000  # after resampling: 10 000 s at 5 ms
SEQUENCE_VALUES = 40_000_000  # positions, rates, accelerations of a motion: half an hour

# Worlds
LINKS = 2_000  # of one robot
COMPOUND_PARTS = 10_000  # of one shape, compounds within it counted
COMPOUND_DEPTH = 20
CAMERA_PIXELS = 10_000_000  # of an image
SENSOR_RAYS = 1_000_000  # of a height scan or lidar, and cells of a contact sensor

# Stores of sweeps
STORE_SIZE = 12_000_000_000  # bytes of all arrays, unpacked: ten million cells

# Bags
BAG_CHUNK = 100_000_000  # bytes of a chunk, message or text in a bag, packed or unpacked
BAG_UNPACKED = 100_000_000  # unpacked bytes of all packed parts of a file,
BAG_EXPANSION = 100  # or as many times the file's size if that is more
BAG_UNSORTED = 200_000_000  # bytes of a topic's messages that are not in the order of time
BAG_DEFINITION = 1_000_000  # characters of the definition of a type and of those in it
BAG_TYPES = 500  # in a definition
BAG_ARRAY = 10_000_000  # elements of an array of fixed size
BAG_DEPTH = 50  # types within each other
BAG_VALUES = 1_000_000  # texts and messages within one message

# ROS
PARAMETER_TEXT = 10_000  # characters of a parameter that is set while a node runs


def excess(name: str, what: str) -> str:
    """Return "more than 1000 aliases (limit YAML_ALIASES in hrpsim.common.limits)" for an error."""
    return f"more than {globals()[name]} {what} (limit {name} in hrpsim.common.limits)"
