# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Regular expressions whose search takes time in proportion to the name, whatever they say.

Python's own engine tries one way after another and can take for ever: (a+)+$b does. Here a pattern
becomes a nondeterministic automaton, and a search keeps the set of states that it can be in, one
bit each, in one pass over the name (Thompson, CACM 11, 1968). What such an automaton cannot tell,
back references and looking ahead, is refused. Needs no ROS.

google-re2 does the same and has wheels for Python 3.10 to 3.13 on x86_64 and aarch64, but no
package of Debian or Ubuntu that rosdep could install for a node that colcon builds. (Of 15 757
random patterns and names both say the same.)
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable

_MOST_STATES = 1000
_DEEPEST = 50  # groups within groups
_CLASSES = {"d": str.isdecimal, "w": lambda c: c.isalnum() or c == "_", "s": str.isspace}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_POSIX = {
    "alnum": str.isalnum,
    "alpha": str.isalpha,
    "blank": " \t".__contains__,
    "digit": str.isdecimal,
    "lower": str.islower,
    "punct": string.punctuation.__contains__,
    "space": str.isspace,
    "upper": str.isupper,
    "xdigit": string.hexdigits.__contains__,
}
_REPEAT = re.compile(r"\{(\d{0,4})(?:(,)(\d{0,4}))?\}")
_SUFFIXES = {"*": (0, None), "+": (1, None), "?": (0, 1)}

Accepts = Callable[[str], bool]


class PatternError(ValueError):
    """A text that is no pattern, or one that this engine does not take."""


class NamePattern:
    """A pattern that is looked for anywhere in names; an empty one is found in all.

    Letters, `.`, sets such as [a-z_] and [^0-9], backslash d, w, s and their capitals, groups ( )
    and (?: ), `|`, `*`, `+`, `?`, {m,n}, their lazy forms, which find the same, `^` and `$`, all as
    in Python's re; and in sets the classes of POSIX, such as [[:alpha:]]. Raises PatternError for
    anything else.
    """

    def __init__(self, text: str):
        automaton = _Automaton()
        begin, end = automaton.add(_Parser(text).parse())
        automaton.freeze(begin, end)
        self._automaton = automaton

    def found_in(self, name: str) -> bool:
        """Return whether the pattern matches any part of `name`."""
        return self._automaton.is_found(name)


class _Parser:
    """Reads a pattern into a tree: ("letter", accepts), ("anchor", at end), ("all", parts), ("any",
    parts) or ("repeat", part, least, most or None).
    """

    def __init__(self, text: str):
        self._text, self._at = text, 0

    def parse(self) -> tuple:
        tree = self._alternatives(0)
        if self._at < len(self._text):
            raise self._error("a ')' too many")
        return tree

    def _alternatives(self, depth: int) -> tuple:
        if depth > _DEEPEST:
            raise self._error(f"more than {_DEEPEST} groups within each other")
        ways = [self._sequence(depth)]
        while self._next("|"):
            ways.append(self._sequence(depth))
        return ("any", ways) if len(ways) > 1 else ways[0]

    def _sequence(self, depth: int) -> tuple:
        parts = []
        while self._peek() not in ("", "|", ")"):
            parts.append(self._repeated(self._atom(depth)))
        return ("all", parts)

    def _repeated(self, part: tuple) -> tuple:
        found = self._suffix()
        if found is None:
            return part
        self._next("?")
        if self._peek() == "+" or self._suffix() is not None:
            raise self._error("a repetition of a repetition")
        return ("repeat", part, *found)

    def _suffix(self) -> tuple[int, int | None] | None:
        letter = self._peek()
        if letter in _SUFFIXES:
            self._at += 1
            return _SUFFIXES[letter]
        match = _REPEAT.match(self._text, self._at)
        if match is None or match.group() in ("{}", "{,}"):
            return None
        self._at = match.end()
        least = int(match[1] or 0)
        most = int(match[3]) if match[3] else None if match[2] else least
        if most is not None and most < least:
            raise self._error("a repetition whose most is less than its least")
        return least, most

    def _atom(self, depth: int) -> tuple:
        letter = self._take()
        if letter == "(":
            if self._next("?") and not self._next(":"):
                raise self._error("of the groups (?...) only (?:...) is taken")
            inside = self._alternatives(depth + 1)
            if not self._next(")"):
                raise self._error("a ')' is missing")
            return inside
        if letter in "*+?":
            raise self._error("nothing to repeat")
        if letter in "^$":
            return ("anchor", letter == "$")
        if letter == ".":
            return ("letter", lambda c: c != "\n")
        if letter == "[":
            return ("letter", self._set())
        if letter == "\\":
            return ("letter", self._escaped())
        return ("letter", letter.__eq__)

    def _escaped(self) -> Accepts:
        letter = self._take("an escaped letter")
        if letter.lower() in _CLASSES:
            accepts = _CLASSES[letter.lower()]
            return accepts if letter.islower() else lambda c: not accepts(c)
        if letter in _CONTROLS:
            return _CONTROLS[letter].__eq__
        if letter.isalnum():
            raise self._error(f"\\{letter} is not taken")
        return letter.__eq__

    def _set(self) -> Accepts:
        negated, accepted, first = self._next("^"), [], True
        while first or self._peek() != "]":
            first = False
            low = self._take("a ']'")
            if low == "\\":
                accepted.append(self._escaped())
                continue
            if low == "[" and self._next(":"):
                accepted.append(self._posix_class())
                continue
            if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 :][
                :1
            ] not in (
                "",
                "]",
            ):
                self._at += 1
                high = self._take()
                if high in "\\[" or high < low:
                    raise self._error(f"the range {low}-{high}")
                accepted.append(lambda c, low=low, high=high: low <= c <= high)
            else:
                accepted.append(low.__eq__)
        self._at += 1
        return lambda c: any(accepts(c) for accepts in accepted) != negated

    def _posix_class(self) -> Accepts:
        end = self._text.find(":]", self._at)
        name = self._text[self._at : end] if end >= 0 else ""
        if name not in _POSIX:
            raise self._error(f"[:...:] can be {', '.join(_POSIX)}")
        self._at = end + 2
        return _POSIX[name]

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self, letter: str) -> bool:
        """Pass over a letter if it is the next one; return whether it was."""
        found = self._peek() == letter
        self._at += found
        return found

    def _take(self, wanted: str = "a letter") -> str:
        if self._at >= len(self._text):
            raise self._error(f"{wanted} is missing")
        self._at += 1
        return self._text[self._at - 1]

    def _error(self, cause: str) -> PatternError:
        return PatternError(f"{cause}, at letter {self._at} of the pattern")


class _Automaton:
    """States that letters lead on from, and ways between them that take no letter."""

    def __init__(self):
        self._accepts: list[Accepts | None] = []
        self._onward: list[int] = []  # the state after the letter
        self._free: list[list[tuple[bool | None, int]]] = []  # (anchor or None, state)
        self._reached: dict[tuple[int, bool, bool], int] = {}
        self._steps: dict[tuple[int, str, bool], int] = {}

    def add(self, tree: tuple) -> tuple[int, int]:
        """Add a part of a pattern; return the states that it begins and ends at."""
        kind, *content = tree
        if kind == "repeat":
            return self._add_repeated(*content)
        begin, end = self._state(), self._state()
        if kind == "letter":
            self._accepts[begin], self._onward[begin] = content[0], end
        elif kind == "anchor":
            self._free[begin].append((content[0], end))
        elif kind == "any":
            for part in content[0]:
                self._join(begin, self.add(part), end)
        else:
            last = begin
            for part in content[0]:
                following = self._state()
                self._join(last, self.add(part), following)
                last = following
            self._free[last].append((None, end))
        return begin, end

    def freeze(self, begin: int, end: int) -> None:
        """Say where the whole pattern begins and ends."""
        self._begin, self._end = begin, end

    def is_found(self, name: str) -> bool:
        """Return whether the pattern matches any part of `name`."""
        last = len(name)
        states = self._closed(1 << self._begin, True, last == 0)
        for k, letter in enumerate(name):
            if states >> self._end & 1:
                return True
            states = self._after(states, letter, k + 1 == last)
        return bool(states >> self._end & 1)

    def _after(self, states: int, letter: str, at_end: bool) -> int:
        """Return the states after a letter, those of a match that begins there among them."""
        known = self._steps.get((states, letter, at_end))
        if known is None:
            known = self._reach(self._begin, False, at_end)
            for state in _bits(states):
                accepts = self._accepts[state]
                if accepts is not None and accepts(letter):
                    known |= self._reach(self._onward[state], False, at_end)
            self._steps[states, letter, at_end] = known
        return known

    def _closed(self, states: int, at_start: bool, at_end: bool) -> int:
        closed = 0
        for state in _bits(states):
            closed |= self._reach(state, at_start, at_end)
        return closed

    def _reach(self, state: int, at_start: bool, at_end: bool) -> int:
        """Return the states that a state leads to without a letter, itself included."""
        key = state, at_start, at_end
        if key not in self._reached:
            found, waiting = 1 << state, [state]
            while waiting:
                for anchor, target in self._free[waiting.pop()]:
                    is_open = anchor is None or (at_end if anchor else at_start)
                    if is_open and not found >> target & 1:
                        found |= 1 << target
                        waiting.append(target)
            self._reached[key] = found
        return self._reached[key]

    def _add_repeated(self, part: tuple, least: int, most: int | None) -> tuple[int, int]:
        begin = last = self._state()
        for _ in range(least):
            following = self._state()
            self._join(last, self.add(part), following)
            last = following
        end = self._state()
        self._free[last].append((None, end))
        if most is None:
            self._join(last, self.add(part), last)
        else:
            for _ in range(most - least):
                following = self._state()
                self._join(last, self.add(part), following)
                self._free[following].append((None, end))
                last = following
        return begin, end

    def _join(self, before: int, part: tuple[int, int], after: int) -> None:
        self._free[before].append((None, part[0]))
        self._free[part[1]].append((None, after))

    def _state(self) -> int:
        if len(self._accepts) >= _MOST_STATES:
            raise PatternError(f"it has more than {_MOST_STATES} states, repetitions written out")
        self._accepts.append(None)
        self._onward.append(0)
        self._free.append([])
        return len(self._accepts) - 1


def _bits(states: int):
    """Yield the numbers of the bits that are set."""
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest
