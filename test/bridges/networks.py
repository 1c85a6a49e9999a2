# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Networks for tests of policies."""

import numpy as np
import pytest


def write_linear(path, weights, rows=1, metadata=None):
    """Write the network action = observation W.

    rows: 1, or a text for a number of rows that the file leaves open.
    """
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    weights = np.asarray(weights, dtype=np.float32)
    size, count = weights.shape
    taken = helper.make_tensor_value_info("obs", TensorProto.FLOAT, [rows, size])
    given = helper.make_tensor_value_info("actions", TensorProto.FLOAT, [rows, count])
    node = helper.make_node("MatMul", ["obs", "W"], ["actions"])
    graph = helper.make_graph(
        [node], "policy", [taken], [given], [numpy_helper.from_array(weights, "W")]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    helper.set_model_props(model, metadata or {})
    onnx.save(model, path)
