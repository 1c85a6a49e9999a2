# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Settings of the documentation: `make docs` builds it into build/docs, without a network."""

import sys
from importlib.metadata import metadata
from pathlib import Path

sys.path.insert(0, str(Path("_extensions").resolve()))  # Sphinx reads this file in its folder

project = "hrpsim"
author = metadata(project)["Author"]
release = version = metadata(project)["Version"]
copyright = author
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",
    "plain_docstrings",  # before napoleon, which gets its result
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_*", "images/**", "*.rst", "standard_docs"]  # the last two are rosdoc2's

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3  # as on the pages of a git server, so that links work in both

napoleon_numpy_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "EndLike": "EndLike", "Geometry": "Geometry"}
autodoc_preserve_defaults = True
add_module_names = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 88
html_math_renderer = "mathml"

html_theme = "furo"
html_title = f"hrpsim {version}"
html_static_path = ["_static"]
html_css_files = ["hrpsim.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = False
