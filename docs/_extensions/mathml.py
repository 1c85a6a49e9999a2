# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Equations as MathML, which browsers draw by themselves: no script, no font, no network."""

import html
import re
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.errors import ExtensionError

# Typography asks for a space between the name of a function and an argument without brackets.
_FUNCTION = re.compile(r"(<mi>(?:arc)?(?:sin|cos|tan|arg)</mi>)(?!\s*<mo[^>]*>\()")
_ACCENTS = "˙¨^~¯→"
_ENTITY = re.compile(r"&(?!lt;|gt;|amp;)\w+;")  # which XML does not know
_BARE_FRACTION = re.compile(r"\\[td]?frac\s*[^{\s]")
_NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"


def _mathml(node: nodes.Node, block: bool) -> str:
    text = node.astext()
    if _BARE_FRACTION.search(text):  # docutils reads \frac12 h as 12 over h
        raise ExtensionError(f"{node.source}:{node.line}: {text!r}: a fraction needs braces")
    try:
        found = latex2mathml.tex2mathml(text, as_block=block)
    except SyntaxError as error:
        raise ExtensionError(f"{node.source}:{node.line}: equation {text!r}: {error}") from error
    return _FUNCTION.sub(r'\1<mspace width="0.17em"/>', _with_indices_beside(found))


def _with_indices_beside(mathml: str) -> str:
    """Return it with the index of an accented letter beside it; docutils puts it beneath."""
    ElementTree.register_namespace("", _NAMESPACE[1:-1])
    tree = ElementTree.fromstring(_ENTITY.sub(lambda name: html.unescape(name[0]), mathml))
    for element in tree.iter(f"{_NAMESPACE}munderover"):
        letter, index, accent = element
        if (accent.text or "").strip() in _ACCENTS:
            accented = ElementTree.Element(f"{_NAMESPACE}mover", accent="true")
            accented.extend([letter, accent])
            element.tag = f"{_NAMESPACE}msub"
            element[:] = [accented, index]
    return ElementTree.tostring(tree, encoding="unicode")


def _inline(self, node: nodes.math) -> None:
    self.body.append(_mathml(node, block=False))
    raise nodes.SkipNode


def _block(self, node: nodes.math_block) -> None:
    self.body.append(f'<div class="equation">{_mathml(node, block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Add the renderer, which conf.py chooses."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
