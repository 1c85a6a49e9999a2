#!/bin/sh
# Makes sure that .venv holds what `make demo` or `make test` needs: sh tools/env.sh demo|test
# Returns at once when nothing has changed since the last time; otherwise chooses a Python and hands
# over to tools/setup_env.py. Reads PYTHON (an interpreter to use instead) and ROS_DISTRO.
set -eu
cd "$(dirname "$0")/.."
profile=$1

fail() {
    echo "hrpsim: $*" >&2
    exit 1
}

version() { "$1" -S -c 'import sys; print(sys.version)' 2>/dev/null; }
is_supported() { "$1" -S -c 'import sys; sys.exit(sys.version_info[:2] < (3, 10))' 2>/dev/null; }
makes_venvs() { "$1" -c 'import ensurepip, venv' 2>/dev/null; }
has_ros() { [ -n "${ROS_DISTRO:-}" ] && "$1" -c 'import rclpy' 2>/dev/null; }

is_ready() { # is_ready PROFILE: was it completed for exactly these files?
    [ -x .venv/bin/python ] && [ "$(cat ".venv/hrpsim-ready-$1" 2>/dev/null)" = "$wanted" ] &&
        { [ -z "${PYTHON:-}" ] || [ "$(version "$PYTHON")" = "$(version .venv/bin/python)" ]; }
}

choose_python() { # prints the interpreter that .venv is to be made with
    if [ -n "${PYTHON:-}" ]; then
        is_supported "$PYTHON" || fail "PYTHON=$PYTHON is not a Python from 3.10 on"
        echo "$PYTHON"
        return
    fi
    candidates=
    for name in "$(.venv/bin/python -S -c 'import sys; print(sys._base_executable)' 2>/dev/null)" \
        python3.13 python3.12 python3.11 python3.10 python3 python3.14; do
        if [ -n "$name" ] && is_supported "$name"; then candidates="$candidates $name"; fi
    done
    # A sourced ROS 2 works with the Python it was built for only; else the newest complete one is best.
    for name in $candidates; do if has_ros "$name"; then echo "$name" && return; fi; done
    for name in $candidates; do if makes_venvs "$name"; then echo "$name" && return; fi; done
    for name in $candidates; do echo "$name" && return; done
    fail "needs a Python from 3.10 on, found $(python3 --version 2>/dev/null || echo none);" \
        "on Debian or Ubuntu: sudo apt install python3 python3-venv python3-dev"
}

wanted=$({
    pwd
    echo "${ROS_DISTRO:-}"
    cat requirements/* setup.py setup.cfg tools/env.sh tools/setup_env.py
    find interfaces -type f ! -path '*/__pycache__/*' | LC_ALL=C sort | xargs cat
} | sha256sum | cut -d ' ' -f 1)

# The test environment holds all that the demo needs.
if is_ready test || is_ready "$profile"; then exit 0; fi
python=$(choose_python)
exec "$python" tools/setup_env.py "$profile" "$wanted"
