# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One engine in a separate process: python -m evidence.benchmarks.simbenchmark.child ENGINE.

Requests and replies are lines of JSON on standard input and output. A request names a task: error
(scene, time_step, limit), begin (scene, time_step, count), or run (steps).
"""

from __future__ import annotations

import json
import os
import sys
import traceback

from evidence.benchmarks.machine import ONE_THREAD

os.environ.update(ONE_THREAD)

from evidence.benchmarks.simbenchmark.engines import Unable, make
from evidence.benchmarks.simbenchmark.measure import Ride, error


def main(name: str) -> None:
    """Serve requests until the input ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # output of engines must not reach the pipe
    engine, ride = make(name), None
    for line in sys.stdin:
        request = json.loads(line)
        task = request.pop("task")
        try:
            if task == "error":
                answer = error(engine, request["scene"], request["time_step"], request["limit"])
                answer = answer.as_data()
            elif task == "begin":
                ride = Ride(engine, request["scene"], request["time_step"], request.get("count", 1))
                answer = {"settings": ride.moving.settings, "steps": ride.steps}
            else:
                answer = dict(zip(("seconds", "wall"), ride.run(request["steps"])))
        except Unable as reason:
            answer = {"unable": str(reason)}
        except Exception as failure:  # other scenes may succeed
            traceback.print_exc()
            answer = {"unable": f"{type(failure).__name__}: {failure}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.argv[1])
