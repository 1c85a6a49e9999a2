# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Xacro of strangers: no code runs, nothing else is read, and all of it ends soon."""

from __future__ import annotations

import math
import time
import warnings

import pytest

from hrpsim import ModelError, load_model
from hrpsim.model.load import expand_xacro
from hrpsim.model.urdf.xacro_budget import Budget, ExpressionError
from hrpsim.model.urdf.xacro_expressions import Evaluator
from hrpsim.model.urdf.xacro_functions import known_names
from hrpsim.model.urdf.xacro_macros import macro_parameter

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


def evaluate(expression, **names):
    budget = Budget()
    return Evaluator(budget, names.__getitem__, known_names(budget)).evaluate(expression)


def expand(body, **options):
    return expand_xacro(f"{HEAD}{body}</robot>", **options)


@pytest.mark.parametrize(
    "expression",
    [
        "1 + 2 * 3 - 4 / 5 // 6 % 7 ** 2",
        "-1.5e-3 if 2 > 1 and not 1 == 2 else 'x'",
        "0 < 1 <= 2 != 3",
        "'a' in 'abc' or 5",
        "[1, 2, 3][1:][0]",
        "{'a': {'b': 2}}['a']['b']",
        "'1 2 3'.split(' ')[2]",
        "'%s_%d' % ('leg', 3)",
        "max([1, 2, 3], key=abs) + min(4, 5)",
        "[x * y for x, y in zip([1, 2], [3, 4]) if x > 1]",
        "sum(map(float, '1 2 3'.split()))",
        "sorted({3, 1, 2})",
        "'-'.join([str(i) for i in range(4)])",
        "round(3.14159, 2)",
    ],
)
def test_expressions_have_the_value_that_python_gives(expression):
    """The walked tree and Python's own evaluation agree."""
    assert evaluate(expression) == eval(expression)


def test_names_of_math_and_the_description():
    assert evaluate("sin(pi / 2) + math.sqrt(x)", x=4) == pytest.approx(3.0)
    assert evaluate("radians(180)") == math.pi
    assert evaluate("config.arm['length']", config={"arm": {"length": 2}}) == 2


@pytest.mark.parametrize(
    "expression",
    [
        "(lambda: ().__class__.__base__.__subclasses__())()",
        "().__class__",
        "[c for c in ().__class__.__mro__]",
        "'{0.__class__}'.format(1)",
        "f'{1}'",
        "(x := 1)",
        "str.mro",
        "python.type(1)",
        "python.vars()",
        "__import__('os')",
        "print",
        "load_yaml.__globals__",
        "len(*[[1]])",
        "dict(**{'a': 1})",
        "map(lambda x: x, [1])",
        "9 ** 9 ** 9",
        "2 ** 5000",
        "1 << 10 ** 9",
        "'a' * 10 ** 9",
        "[0] * 10 ** 9",
        "[[[[1] * 1000] * 1000] * 1000] * 1000",
        "list(range(10 ** 9))",
        "[x for x in range(10 ** 5) for y in range(10 ** 5)]",
        "factorial(10 ** 6)",
        "math.prod([2 ** 4000] * 10 ** 5)",
        "round(1, -10 ** 9)",
        "'%1000000000d' % 1",
        "'a'.join(['b' * 1000] * 1000)",
        "('a' * 1000).replace('a', 'b' * 100000)",
        "sum([[1]] * 1000, [])",
        "set(range(100000))",
        "int('9' * 5000)",
        "1 / 0",
        "undefined",
        "1 +",
        "-" * 3000 + "1",
        "(" * 3000,
        "1" + " + 1" * 5000,
    ],
)
def test_what_is_refused_is_refused_soon(expression):
    """Code, attributes, and whatever grows without bound: an error, where each would take hours."""
    begin = time.thread_time()
    with pytest.raises(ExpressionError):
        evaluate(expression)
    assert time.thread_time() - begin < 60.0


def test_no_expression_runs_a_command(tmp_path):
    """Lambdas hid attributes from xacro's own filter: a file shows whether a command ran."""
    proof = tmp_path / "proof"
    code = (
        "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
        f".__init__.__globals__['system']('touch {proof}')"
    )
    for text in (
        f"${{(lambda: {code})()}}",
        f"${{list(map(lambda x: {code}, [1]))}}",
        f"$(eval {code})",
    ):
        with pytest.raises(ModelError):
            expand(f'<link name="{text}"/>')
        (tmp_path / "r.xacro").write_text(f'{HEAD}<link name="{text}"/></robot>')
        with pytest.raises(ModelError):
            load_model(tmp_path / "r.xacro")
    assert not proof.exists()


@pytest.mark.parametrize(
    "body, named",
    [
        ("<link name=\"${xacro.load_yaml('/etc/passwd')}\"/>", "may not be read"),
        ("<link name=\"${load_yaml('/etc/hostname')}\"/>", "may not be read"),
        ('<xacro:include filename="/etc/passwd"/>', "may not be read"),
        ('<xacro:include filename="/*"/>', "may not be read"),
        ('<link name="$(dirname)"/>', "$(find)"),
        ('<link name="$(find no_such_package)"/>', "no_such_package"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "XACRO_DEPTH"),
        (f'<xacro:property name="{"-" * 99999}" value="1"/>', "xacro"),
        ("<xacro:property name='p' value='${p}'/><link name='${p}'/>", "circular"),
    ],
)
def test_files_and_recursion_are_refused_by_name(body, named):
    with pytest.raises(ModelError) as error:
        expand(body)
    assert named in str(error.value) and "\n" not in str(error.value)


def test_what_doubles_is_stopped():
    """Macros that call two others, and properties that repeat one, 60 times over."""
    macros = '<xacro:macro name="m0"><link name="x"/></xacro:macro>' + "".join(
        f'<xacro:macro name="m{k + 1}"><xacro:m{k}/><xacro:m{k}/></xacro:macro>' for k in range(40)
    )
    texts = '<xacro:property name="p0" value="abc"/>' + "".join(
        f'<xacro:property name="p{k + 1}" value="${{p{k}}}${{p{k}}}"/>' for k in range(60)
    )
    comment = f'<xacro:macro name="m"><!--{"y" * 100000}--></xacro:macro>' + "<xacro:m/>" * 5000
    for body, limit in (
        (macros + "<xacro:m40/>", "XACRO_ELEMENTS"),
        (texts + '<link name="${p60}"/>', "XACRO_TEXT"),
        (comment, "XACRO_WORK"),
    ):
        with pytest.raises(ModelError, match=limit):
            expand(body)


def test_files_of_the_package_are_read(tmp_path):
    """Includes and YAML in the description's package, in packages found, and in package_paths."""
    (tmp_path / "bot" / "urdf").mkdir(parents=True)
    (tmp_path / "bot" / "package.xml").write_text("<package><name>bot</name></package>")
    (tmp_path / "bot" / "size.yaml").write_text("length: !degrees 180\nlength: !degrees 90")
    (tmp_path / "bot" / "arm.xacro").write_text(f'{HEAD}<link name="arm"/></robot>')
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "leg.xacro").write_text(f'{HEAD}<link name="leg"/></robot>')
    path = tmp_path / "bot" / "urdf" / "r.xacro"
    path.write_text(
        f"{HEAD}<xacro:include filename='../*.xacro'/>"
        "<xacro:include filename='gone' optional='true'/>"
        "<xacro:property name='s' value=\"${xacro.load_yaml('$(find bot)/size.yaml')}\"/>"
        "<link name='${s.length}'/><xacro:include filename='$(find other)/leg.xacro'/></robot>"
    )
    with pytest.raises(ModelError, match="package_paths"):
        expand_xacro(path, package_paths={"nothing": tmp_path / "bot"})
    text = expand_xacro(path, package_paths={"other": tmp_path / "other"})
    for name in ("arm", "leg", str(math.pi / 2)):
        assert f'<link name="{name}"/>' in text


def test_links_out_of_the_package_are_followed_no_further(tmp_path):
    """A symbolic link is what it leads to."""
    (tmp_path / "bot").mkdir()
    (tmp_path / "secret.yaml").write_text("key: 1")
    (tmp_path / "bot" / "data.yaml").symlink_to(tmp_path / "secret.yaml")
    path = tmp_path / "bot" / "r.xacro"
    path.write_text(f"{HEAD}<link name=\"${{xacro.load_yaml('data.yaml')['key']}}\"/></robot>")
    with pytest.raises(ModelError, match="may not be read"):
        expand_xacro(path)


def test_xacro_can_be_refused_as_a_whole():
    with pytest.raises(ModelError, match="allow_xacro"):
        load_model(f'{HEAD}<link name="${{1}}"/></robot>', allow_xacro=False)
    assert load_model('<robot name="r"><link name="a"/></robot>', "fixed", allow_xacro=False)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("a b", ("a", None, "b")),
        ("a:=1 b", ("a", (None, "1"), "b")),
        ("a=^|'x y' b:=2", ("a", ("a", "'x y'"), "b:=2")),
        ("a:=^ b", ("a", ("a", None), "b")),
        ("a:=${1 + 2} b", ("a", (None, "${1 + 2}"), "b")),
        ("*block other", ("*block", None, "other")),
    ],
)
def test_parameters_of_macros_are_those_of_xacro(text, expected):
    import xacro

    assert macro_parameter(text) == expected == xacro.parse_macro_arg(text)


def test_parameters_of_macros_take_linear_time():
    """xacro's own expression takes 2^n steps for n characters before an unmatched quote."""
    begin = time.thread_time()
    macro_parameter("a:=" + "x" * 5000 + "'")
    assert time.thread_time() - begin < 60.0


def test_a_description_may_warn():
    """xacro.warning becomes a ModelWarning, its text cut."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        expand("<link name=\"a${xacro.warning('no inertia of ' + 'a' * 1000)}\"/>")
    (warning,) = caught
    assert "no inertia of a" in str(warning.message) and len(str(warning.message)) < 300


def test_a_relative_path_finds_what_includes_include(tmp_path, monkeypatch):
    """Law: files are named relative to the file that names them, wherever the program runs."""
    (tmp_path / "urdf" / "parts").mkdir(parents=True)
    (tmp_path / "urdf" / "size.yaml").write_text("mass: 3.5\n")
    (tmp_path / "urdf" / "parts" / "inner.xacro").write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:property name="size" value="${xacro.load_yaml(\'size.yaml\')}"/></robot>'
    )
    (tmp_path / "urdf" / "parts" / "outer.xacro").write_text(
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="inner.xacro"/></robot>'
    )
    (tmp_path / "urdf" / "one.urdf.xacro").write_text(
        '<robot name="one" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="parts/outer.xacro"/>'
        '<link name="base"><inertial><mass value="${size[\'mass\']}"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    for folder, path in (
        (tmp_path, "urdf/one.urdf.xacro"),
        (tmp_path / "urdf", "one.urdf.xacro"),
        (tmp_path / "urdf" / "parts", "../one.urdf.xacro"),
    ):
        monkeypatch.chdir(folder)
        assert load_model(path).mass == pytest.approx(3.5)
