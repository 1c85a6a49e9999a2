# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The documentation builds without a warning, and asks for nothing over a network."""

import importlib.util
import os
import re
import subprocess
import sys
import time

import pytest
from pages.blocks import DOCS, ROOT
from viewer.page import WHY_NOT, Page

TOOLS = ROOT / ".venv" / "docs"  # make setup-docs
BUILDS = TOOLS.is_dir() or importlib.util.find_spec("sphinx") is not None

pytestmark = [  # one worker builds it
    pytest.mark.xdist_group("site"),
    pytest.mark.timeout(1200),
    pytest.mark.long,
]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return the folder of the built site."""
    if not BUILDS:
        pytest.skip("make setup-docs installs what builds the site")
    folder = tmp_path_factory.mktemp("site")
    command = ["sphinx", "--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir"]
    done = subprocess.run(
        [sys.executable, "-m", *command, f"{folder}/doctrees", str(DOCS), f"{folder}/html"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TOOLS), str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


def test_every_page_is_built(site):
    for page in DOCS.rglob("*.md"):
        if "_" not in page.relative_to(DOCS).parts[0][:1]:
            assert (site / page.relative_to(DOCS)).with_suffix(".html").is_file(), page


def test_pages_load_nothing_from_elsewhere(site):
    """Law: scripts, styles, fonts and pictures are files of the site; equations are MathML."""
    elsewhere = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*(?:src|href)=["'](?:https?:)?//""")
    for page in site.rglob("*.html"):
        assert not elsewhere.search(page.read_text(encoding="utf-8")), page
    assert "<math " in (site / "explanation" / "control.html").read_text(encoding="utf-8")


def test_the_public_names_are_in_the_reference(site):
    import hrpsim

    pages = "".join(p.read_text(encoding="utf-8") for p in (site / "reference/python").glob("*"))
    for name in hrpsim.__all__:
        assert f'id="hrpsim.{name}"' in pages, name
    for name in ("connect", "add_body", "step", "contact_arrays"):
        assert f'id="hrpsim.World.{name}"' in pages, name
    assert "TypeAlias" not in pages and "Alias for field" not in pages
    assert "Force [N] then torque [Nm] (6,), by sensor." in pages  # a comment behind a field


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_no_page_scrolls_sideways(site):
    """Law: a page is no wider than its window; wide tables and blocks scroll by themselves."""
    loaded = "document.readyState === 'complete' && location.pathname.endsWith(%r)"
    with Page(f"file://{site}/index.html") as page:
        for path in sorted(site.rglob("*.html")):
            name = path.relative_to(site).as_posix()
            page.call("Page.navigate", url=f"file://{path}")
            end = time.monotonic() + 60.0
            while not page.evaluate(loaded % f"/{name}"):
                assert time.monotonic() < end, name
                time.sleep(0.02)
            for width in (390, 1024, 1366, 1920):
                size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
                page.call("Emulation.setDeviceMetricsOverride", **size)
                measured = page.evaluate("[innerWidth, document.documentElement.scrollWidth]")
                assert measured == [width, width], f"{name} in a window of {width} pixels"
