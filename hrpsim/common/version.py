# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The version of hrpsim, from package.xml, which every kind of installation contains."""

from xml.etree import ElementTree

from hrpsim.common.resources import share_path

__version__ = ElementTree.parse(share_path("package.xml")).findtext("version")
