# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which hrpsim this is: package.xml says so, and comes along however hrpsim is installed."""

from __future__ import annotations

from xml.etree import ElementTree

from hrpsim.resources import share_path

__version__ = ElementTree.parse(share_path("package.xml")).findtext("version")
