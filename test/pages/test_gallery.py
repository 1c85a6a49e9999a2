# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""docs/gallery.md shows the pictures that tools/gallery.py makes of examples."""

import re
import runpy

from pages.blocks import DOCS, ROOT


def test_the_gallery_has_a_picture_of_each_of_its_examples():
    """Law: pictures of the page, files in its folder, examples and scripts named are the same."""
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    drawn = runpy.run_path(str(ROOT / "tools/gallery.py"))["EXAMPLES"]
    assert sorted(re.findall(r"images/gallery/(\w+)\.png", page)) == sorted(drawn)
    assert sorted(re.findall(r"examples/(\w+)\.py", page)) == sorted(drawn)
    assert sorted(p.stem for p in (DOCS / "images/gallery").iterdir()) == sorted(drawn)
    assert all((ROOT / "examples" / f"{name}.py").is_file() for name in drawn)
