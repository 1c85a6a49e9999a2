# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim check-model lists what is not simulated once, a line each."""

from hrpsim.commands.cli import main

SDF = """<sdf version="1.9"><model name="m"><link name="l"/>
<plugin name="p" filename="libp.so"/><link name="n"><light name="s" type="point"/></link>
</model></sdf>"""


def test_each_part_that_is_not_simulated_has_a_line(tmp_path, capsys):
    path = tmp_path / "m.sdf"
    path.write_text(SDF)
    assert main(["check-model", str(path)]) == 0
    out, err = capsys.readouterr()
    _, listed = out.split("not_simulated:\n")
    assert [line.split(" (")[0].strip() for line in listed.splitlines()] == [
        "<plugin> of <model>",
        "<light> of <link>",
    ]
    assert "not simulated as it says" not in err
