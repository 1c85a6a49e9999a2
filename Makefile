# The two commands: `make demo` and `make test`. Each sets up what it needs in .venv, the first time.
# Variables: PYTHON=python3.11 (which interpreter .venv is made with), ARGS (passed on to the program).

PYTHON ?=
export PYTHON
ARGS ?=
FUZZ_MINUTES ?= 15
RUN := .venv/bin/python
# Only our own plugins: those that a sourced ROS 2 brings are made for another pytest.
PYTEST := PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(RUN) -m pytest \
	-p xdist.plugin -p pytest_timeout -p _hypothesis_pytestplugin

OLDEST := test/test_reference.py test/test_compilers.py test/spatial \
	$(filter-out %_against_oracles.py %_laws.py,$(wildcard test/solvers/test_*.py)) \
	$(addprefix test/world/test_,free_motion.py joints.py islands.py springs.py stages.py)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup setup-test demo test test-oldest fuzz lint format bench verification lock clean distclean

help:
	@echo "make demo       a humanoid walks; node, controller and recorder talk over ROS 2"
	@echo "make test       lint, then all tests (ARGS='test/test_layers.py' runs some of them)"
	@echo "make test-oldest  some tests with the oldest releases of numba, numpy and so on"
	@echo "make fuzz       damaged files, worlds and requests for FUZZ_MINUTES=15 minutes on 2 cores"
	@echo "make bench      timed beside other engines (ARGS='standing --quick', ARGS=--write)"
	@echo "make verification  measure the figures of docs/verification.md anew"
	@echo "make setup      only the environment (.venv) that the demo needs"
	@echo "make format     let ruff format the code and mend what it can"
	@echo "make lock       choose the newest versions for requirements/"
	@echo "make clean      remove what was built;  make distclean  removes .venv as well"

setup:
	@sh tools/env.sh demo

setup-test:
	@sh tools/env.sh test

demo: setup
	@$(RUN) -m hrpsim.cli walk --ros $(ARGS)

lint: setup-test
	@$(RUN) -m ruff check --quiet --output-format concise .
	@$(RUN) -m ruff format --check --quiet .

# The kernels first: compiled within a test they would count against its time limit.
test: lint
	@$(RUN) -m hrpsim.cli warm-up
	@$(PYTEST) -n 2 --dist loadgroup $(ARGS)

# What no one locked: the oldest releases that setup.cfg allows.
test-oldest: setup-test
	@.venv/bin/uv venv --quiet --allow-existing --python $(RUN) .venv/oldest
	@.venv/bin/uv pip install --quiet --python .venv/oldest/bin/python -r requirements/oldest.txt
	@PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH=. .venv/oldest/bin/python -m pytest \
		-p pytest_timeout -p _hypothesis_pytestplugin $(OLDEST)

# Each file of tests gets as many minutes as 2 processes need to end together; seeds are printed.
fuzz: setup-test
	@$(RUN) -m hrpsim.cli warm-up
	@seed=$${HRPSIM_FUZZ_SEED:-$$(date +%s)}; \
	each=$$(ls test/fuzz/test_*.py | awk 'END {print 2 * $(FUZZ_MINUTES) / NR}'); \
	echo "HRPSIM_FUZZ_SEED=$$seed HRPSIM_FUZZ_MINUTES=$$each for each file of test/fuzz"; \
	HRPSIM_FUZZ_SEED=$$seed HRPSIM_FUZZ_MINUTES=$$each $(PYTEST) -n 2 -rP test/fuzz $(ARGS)

format: setup-test
	@$(RUN) -m ruff check --fix .
	@$(RUN) -m ruff format .

# Engines that are only timed are installed for it; one that has no wheel here is left out.
bench: setup-test
	@.venv/bin/uv pip install --quiet --python $(RUN) --only-binary :all: "pybullet>=3.2.7" \
		"dartpy>=6.19" drake || echo "without Bullet, dart and drake"
	@.venv/bin/uv pip install --quiet --python $(RUN) --only-binary :all: --no-deps \
		--target .venv/mujoco3 "mujoco<4" || echo "without mujoco 3"
	@$(RUN) -m benchmarks $(ARGS)

# The head of the page is kept, what stands below the line "Generated" is measured anew. The page is
# written even where a figure is missed, which it then shows; make fails all the same.
verification: setup-test
	@(sed '/^## Generated/q' docs/verification.md; echo) > verification.tmp
	@missed=0; \
	(cd test && ../$(RUN) -m world.report) >> verification.tmp || missed=1; \
	echo >> verification.tmp; \
	(cd test && ../$(RUN) -m dynamics.report 200) >> verification.tmp || missed=1; \
	$(RUN) -m hrpsim.cli reproduce all --output docs/images/reproduce --markdown docs/reproduce.tmp \
		|| missed=1; \
	(echo; cat docs/reproduce.tmp) >> verification.tmp; rm -f docs/reproduce.tmp; \
	mv verification.tmp docs/verification.md; exit $$missed

# One lock for every Python from 3.10 to 3.13 and every extra that setup-test installs.
lock: setup-test
	.venv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" setup.py requirements/build.in \
		--extra record --extra plot --extra ros --extra viewer --extra test --output-file requirements/lock.txt
	$(RUN) tools/licences.py

clean:
	rm -rf build dist install log output *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv
