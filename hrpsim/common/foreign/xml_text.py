# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Decode and parse XML without document types, entities, the network, or other files.

The text is decoded here, from the encoding of the first bytes or of the declaration. The parser
receives UTF-8 only, so that no encoding hides a document type.
"""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree

from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError

# Errors of public files without loss of content: prefixes without a namespace, as in old Gazebo
# elements, "--" in comments, and XML versions that do not exist.
_HARMLESS = {"NS_ERR_UNDEFINED_NAMESPACE", "ERR_HYPHEN_IN_COMMENT", "ERR_UNKNOWN_VERSION"}
_MARKS = (  # the longer marks first: UTF-32's starts like UTF-16's
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
    (b"<\0\0\0", "utf-32-le"),
    (b"\0\0\0<", "utf-32-be"),
    (b"<\0", "utf-16-le"),
    (b"\0<", "utf-16-be"),
)
_ENCODING = re.compile(
    r"utf-?(8|16|32)(-sig|-?[lb]e)?|(us-)?ascii|iso-?8859-?\d+|latin-?1|windows-125\d"
)
_DECLARED = re.compile(rb"""\s*<\?xml[^>]*encoding\s*=\s*["']([\w.-]+)["']""")
_DECLARATION = re.compile(r"<\?xml\b[^<>]*\?>")  # bounded by the next <, so that the time is linear
_TYPE = re.compile(r"<!(DOCTYPE|ENTITY)")
_COMMENT = re.compile(r"<!--.*?(-->|\Z)|<!\[CDATA\[.*?(\]\]>|\Z)", re.DOTALL)  # in linear time


def decoded_xml(
    data: bytes, label: str | Path, error: type[HrpsimError], errors: str = "strict"
) -> str:
    """Return the text of an XML document. Raise `error` for another encoding than declared.

    errors: "replace" replaces bytes that are not characters.
    """
    encoding = next((code for mark, code in _MARKS if data.startswith(mark)), "")
    if not encoding:
        declared = _DECLARED.match(data)
        encoding = declared[1].decode() if declared else "utf-8"
    if not _ENCODING.fullmatch(encoding.lower()):
        raise error(f"{label}:1: encoding {encoding[:40]!r} is not known. Use UTF-8")
    try:
        return data.decode(encoding, errors).lstrip("\ufeff \t\r\n")
    except (UnicodeError, LookupError) as cause:
        raise error(f"{label}: is not text in {encoding[:40]}: {cause}. Use UTF-8") from cause


def xml_root(
    text: str,
    label: str | Path,
    error: type[HrpsimError],
    has_lines: bool = True,
    recover: bool = False,
    huge: bool = False,
) -> etree._Element:
    """Return the root element of an XML text.

    Args:
        text: the document.
        label: name of the document in errors.
        error: class of the error.
        has_lines: whether the lines of the text are lines of the file named by `label`.
        recover: skip syntax errors.
        huge: allow texts of more than 10 MB within one element.

    Raises:
        error: the text is no XML, has a document type or entities, has no element, or has more than
            XML_ELEMENTS elements.
    """
    if text.count("<") > 2 * limits.XML_ELEMENTS:
        raise error(f"{label}: {limits.excess('XML_ELEMENTS', 'elements')}")

    def at(line: int) -> str:
        return f"{label}:{line}" if has_lines and line else f"{label}"

    declaration = _TYPE.search(text) and _TYPE.search(_COMMENT.sub("", text))
    if declaration and not recover:
        line = text.count("\n", 0, text.find(declaration[0])) + 1
        raise error(f"{at(line)}: a document type or entities are not allowed. Remove them")
    try:
        root = _parsed(_DECLARATION.sub("", text, count=1).encode("utf-8"), recover, huge)
    except UnicodeEncodeError as cause:
        raise error(f"{label}: is not text: {cause.reason}") from cause
    except etree.XMLSyntaxError as cause:
        raise error(f"{at(cause.lineno)}: XML syntax error: {cause.msg}") from cause
    if root is None:
        raise error(f"{label}: contains no XML element")
    return root


def _parsed(text: bytes, recover: bool, huge: bool) -> etree._Element | None:
    """Return the root element. With `recover`, syntax errors of `_HARMLESS` kinds are skipped."""
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        remove_comments=True,
        recover=recover,
        huge_tree=huge,
    )
    try:
        return etree.fromstring(text, parser)
    except etree.XMLSyntaxError:
        # The parser's log: the exception's log also has errors of earlier texts.
        if not recover and {entry.type_name for entry in parser.error_log} <= _HARMLESS:
            return _parsed(text, True, huge)
        raise
