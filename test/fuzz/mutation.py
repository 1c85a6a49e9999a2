# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Damages files: bytes, numbers, words, elements of XML and values of YAML; by seed."""

from __future__ import annotations

import random
import re
from copy import deepcopy

import yaml
from fuzz.corpus import seeds
from lxml import etree

NUMBERS = (
    *(
        "0",
        "-1",
        "1e308",
        "-1e308",
        "1e-308",
        "nan",
        "inf",
        "-inf",
        "1e400",
        "0x10",
        "1_0",
        "9" * 400,
    ),
    *(
        "-0.0",
        "1e50",
        "1e51",
        "2147483648",
        "9223372036854775808",
        "1,5",
        "0.1.2",
        "",
        "1e9",
        "1e-12",
    ),
)
WORDS = (
    *(
        "\x00",
        "\ufffd",
        "\ud7ff",
        "]",
        "[" * 200,
        "{" * 200,
        "<a>" * 300,
        "&x;",
        "*one",
        "&one",
        "!!float abc",
    ),
    *(
        "!!int abc",
        "2001-01-01",
        "!!python/object:os.system x",
        "<<: *one",
        "true",
        "null",
        "~",
        ".nan",
    ),
    *(
        "${9**9**9}",
        "${[0]*10**9}",
        "${().__class__}",
        "$(eval 1)",
        "$(find x)",
        "$(arg x)",
        "${a}",
    ),
    *(
        "<!DOCTYPE r [<!ENTITY x 'y'>]>",
        '<?xml version="1.0" encoding="undefined"?>',
        "\n",
        "\r",
        "\t",
    ),
    *(
        "../..",
        "/etc/passwd",
        "package://x/y",
        "file:///dev/null",
        "x" * 3000,
        "'",
        '"',
        "%",
        "#",
        "---",
    ),
)
VALUES = (
    *(None, True, False, 0, -1, 1, 1e300, -1e300, 1e-300, float("nan"), float("inf"), 2**70, ""),
    *(
        "x",
        "1",
        "x" * 5000,
        [],
        {},
        [1],
        [[1]],
        {"a": 1},
        [1, 2, 3],
        ["a", "b"],
        "2001-01-01",
        "a/b",
    ),
    *(
        [0, 0, 0],
        [0, 0, 0, 0],
        {"box": [1, 1, 1]},
        {"compound": []},
        {"mesh": {"file": "/etc/passwd"}},
    ),
)
XML = ("urdf", "srdf", "mjcf", "xacro", "dae", "visual_dae", "package", "gazebo", "changed_urdf")
XML += ("sdf", "sdf_world", "gym_urdf")
YAML = ("world", "parameters", "keyframes", "metadata", "body", "study", "policy", "recording")
YAML += ("excitation", "changed_world", "spawned_body", "metadata_props", "gltf", "visual_gltf")
YAML += ("cnoid", "env_config")
CODES = ("utf-16", "utf-16-le", "utf-32", "utf-8-sig", "utf-7", "latin-1", "cp037")
WRAPPED = (
    (b"<![CDATA[", b"]]>"),
    (b"<!--", b"-->"),
    (b"<?x ", b"?>"),
    (b'"', b'"'),
    (b"!!binary |\n  ", b"\n"),
    (b"? [", b"]\n: x\n"),
    (b"---\n", b"\n...\n"),
    (b"&a [*a, ", b"]"),
)
LENGTHS = (0, 1, 2**7, 2**15, 2**16, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1)


def damaged(kind: str, seed: int) -> bytes:
    """Return a damaged file of a kind; the same for the same seed."""
    chance = random.Random(f"{kind} {seed}")
    data = chance.choice(seeds(kind))
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        how = chance.random()
        if kind in XML and how < 0.45:
            data = _xml(data, chance)
        elif kind in YAML and how < 0.45:
            data = _yaml(data, chance)
        elif how < 0.75:
            data = _words(data, chance)
        else:
            data = _bytes(data, chance)
    return data[: 1 << 20]


def mixed(kind: str, seed: int) -> bytes:
    """Return a file that is partly of another kind, in another code, wrapped, or of odd lengths."""
    chance = random.Random(f"mixed {kind} {seed}")
    data = damaged(kind, seed) if chance.random() < 0.3 else chance.choice(seeds(kind))
    begin, end = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    match chance.randrange(7):
        case 0:
            other = chance.choice(seeds(chance.choice((*XML, *YAML, "stl", "npy", "mcap"))))
            return data[:begin] + other[: chance.randrange(len(other) + 1)] + data[end:]
        case 1:
            text = data.decode("latin-1")
            return text.encode(chance.choice(CODES), errors="replace")
        case 2:
            before, after = chance.choice(WRAPPED)
            return data[:begin] + before + data[begin:end] + after + data[end:]
        case 3:
            size = chance.choice((1, 2, 4, 8))
            number = chance.choice(LENGTHS) % 2 ** (8 * size)
            return data[:begin] + number.to_bytes(size, "little") + data[begin + size :]
        case 4:
            pieces = re.split(rb"(?<=[>,\n])", data)
            at = chance.randrange(len(pieces))
            pieces[at : at + 8] = chance.sample(pieces[at : at + 8], len(pieces[at : at + 8]))
            return b"".join(pieces)
        case 5:
            return data[begin:end] * chance.choice((2, 40)) + data
        case _:
            return data.replace(b"\n", chance.choice((b"\r\n", b"\r", b"\x0b", b"\xe2\x80\xa8")))


def _bytes(data: bytes, chance: random.Random) -> bytes:
    """Flip, insert, remove, repeat or cut off bytes."""
    at = chance.randrange(len(data) + 1)
    size = chance.choice((1, 1, 2, 4, 16, 100))
    match chance.randrange(6):
        case 0:
            found = bytearray(data or b"x")
            found[at % len(found)] ^= 1 << chance.randrange(8)
            return bytes(found)
        case 1:
            return data[:at] + chance.randbytes(size) + data[at:]
        case 2:
            return data[:at] + data[at + size :]
        case 3:
            return data[:at] + data[at : at + size] * chance.choice((2, 3, 50)) + data[at + size :]
        case 4:
            return data[:at]
        case _:
            return data[:at] + bytes(chance.choice((b"\x00", b"\xff"))) * size + data[at + size :]


def _words(data: bytes, chance: random.Random) -> bytes:
    """Put another number or word in the place of one, or between two."""
    ranges = [m.span() for m in re.finditer(rb"-?\d[\d.eE+-]*|[A-Za-z_]\w*", data)]
    start, end = chance.choice(ranges) if ranges else (0, 0)
    new = chance.choice(NUMBERS if chance.random() < 0.5 else WORDS)
    if ranges and chance.random() < 0.3:
        other = chance.choice(ranges)
        new = data[other[0] : other[1]].decode(errors="replace")
    kept = start if chance.random() < 0.2 else end
    return data[:start] + new.encode(errors="replace") + data[kept:]


def _xml(data: bytes, chance: random.Random) -> bytes:
    """Remove, repeat or move elements, or change attributes; or damage bytes of what is no XML."""
    try:
        root = etree.fromstring(data)
    except (etree.XMLSyntaxError, ValueError):
        return _bytes(data, chance)
    elements = [e for e in root.iter() if isinstance(e.tag, str)]
    element = chance.choice(elements)
    parent = element.getparent()
    match chance.randrange(6):
        case 0 if parent is not None:
            parent.remove(element)
        case 1 if parent is not None:
            for _ in range(chance.choice((1, 3, 30))):
                parent.append(deepcopy(element))
        case 2 if parent is not None:
            chance.choice(elements).append(deepcopy(element))
        case 3:
            element.tag = chance.choice(elements).tag
        case _:
            names = [*element.attrib, "name", "value", "xyz", "rpy", "filename", "link", "as"]
            word = chance.choice((*NUMBERS, *WORDS, "1 2 3", "0 0 0", "a", "b", "j"))
            clean = "".join(c for c in word if c.isprintable())
            element.set(chance.choice(names), clean)
    return etree.tostring(root, encoding="utf-8")


def _yaml(data: bytes, chance: random.Random) -> bytes:
    """Change, remove, repeat or nest a value; or damage bytes of what is no YAML."""
    try:
        content = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, TypeError, RecursionError):
        return _bytes(data, chance)
    places = list(_places(content))
    if not places:
        return _bytes(data, chance)
    owner, key = chance.choice(places)
    match chance.randrange(6):
        case 0:
            del owner[key]
        case 1 if isinstance(owner, list):
            owner.extend([owner[key]] * chance.choice((1, 10, 200)))
        case 2:
            nested = owner[key]
            for _ in range(chance.choice((1, 5, 100))):
                nested = [nested] if chance.random() < 0.5 else {"shape": nested}
            owner[key] = nested
        case 3:
            other, name = chance.choice(places)
            owner[key] = other[name]
        case 4 if isinstance(owner, dict):
            owner[chance.choice((*map(str, owner), "x", 1, None, True))] = owner[key]
        case _:
            owner[key] = chance.choice(VALUES)
    try:
        return yaml.safe_dump(content, default_flow_style=chance.random() < 0.5).encode()
    except (RecursionError, yaml.YAMLError):
        return _bytes(data, chance)


def _places(content, depth: int = 0):
    """Yield (owner, key) of every value within lists and mappings."""
    if depth > 20:
        return
    items = content.items() if isinstance(content, dict) else ()
    if isinstance(content, list):
        items = enumerate(content)
    for key, value in list(items):
        yield content, key
        yield from _places(value, depth + 1)
