# The two commands: `make demo` and `make test`. Each sets up what it needs in .venv, the first time.
# Variables: PYTHON=python3.11 (which interpreter .venv is made with), ARGS (passed on to the program).

PYTHON ?=
export PYTHON
# Bytecode is kept in .venv, also where the environment forbids it beside the sources: each of the
# many processes would compile numba's and numpy's anew, which takes a second.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/bytecode
ARGS ?=
FUZZ_MINUTES ?= 15
KERNELS ?= all
INTERFACES := tf2_msgs control_msgs simulation_interfaces unitree_go unitree_hg
PYTHONS ?= python3.10 python3.11 python3.12 python3.13 python3.14
RUN := .venv/bin/python
# Only our own plugins: those that a sourced ROS 2 brings are made for another pytest.
PYTEST := PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 $(RUN) -m pytest \
	-p xdist.plugin -p pytest_rerunfailures -p pytest_timeout -p _hypothesis_pytestplugin

OF_VERSIONS := test/test_reference.py test/test_compilers.py test/spatial \
	$(filter-out %_against_oracles.py %_laws.py,$(wildcard test/solvers/test_*.py)) \
	$(addprefix test/world/test_,free_motion.py joints.py islands.py springs.py stages.py) \
	test/test_wrench_plot.py test/test_yaml_text.py $(addprefix test/model/test_,mesh_files.py mjcf.py)

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup setup-test setup-docs setup-colcon demo dist test test-all test-oldest test-newest test-pythons \
	test-versions test-kilted fuzz lint format docs gallery bench verification lock clean distclean

help:
	@echo "make demo       a humanoid walks; node, controller and recorder talk over ROS 2"
	@echo "make test       lint, then all but the long tests (ARGS='test/test_layers.py' runs some)"
	@echo "make test-all   all tests: \`make test\`, then the long ones"
	@echo "make test-versions  some tests with the oldest and newest releases of numba, numpy and so on"
	@echo "make test-pythons   the same tests with each Python that is found (PYTHONS='python3.12 ...')"
	@echo "make test-kilted     the tests of ROS on the wheels of Kilted, which .venv has not"
	@echo "make fuzz       damaged files, worlds and requests for FUZZ_MINUTES=15 minutes on 2 cores"
	@echo "make bench      timed beside other engines (ARGS='standing --quick', ARGS=--write)"
	@echo "make verification  measure the figures of docs/verification again"
	@echo "make dist       what is published: source distribution and wheels, in dist"
	@echo "                (with compiled kernels; KERNELS=x86-64-v3: for these only, KERNELS=: none)"
	@echo "make setup      only the environment (.venv) that the demo needs"
	@echo "make docs       the documentation as a site, in build/docs; warnings are errors"
	@echo "make gallery    run the examples and draw them for docs/gallery.md"
	@echo "make format     let ruff format the code and mend what it can"
	@echo "make lock       choose the newest versions for requirements/"
	@echo "make clean      remove what was built;  make distclean  removes .venv as well"

setup:
	@sh tools/env.sh demo

setup-test:
	@sh tools/env.sh test

# It ends with make, however that ends.
demo: setup
	@HRPSIM_END_WITH=$$PPID exec $(RUN) -m hrpsim walk --ros $(ARGS)

# The wheel carries kernels, compiled for each target in KERNELS, two minutes each: so that nothing is
# compiled where it is installed. all: what this processor can run of tools/ship_kernels.py's targets.
# With what .venv has: no network is needed. Message packages are for one Python and machine each; the
# folder is copied, as setuptools leaves its traces there.
dist: setup-test
	@rm -rf dist build/dist build/lib && mkdir -p build/dist
	@test -z "$(KERNELS)" || $(RUN) tools/ship_kernels.py $(CURDIR)/build/kernels $(KERNELS)
	@HRPSIM_KERNELS=$(if $(KERNELS),$(CURDIR)/build/kernels) .venv/bin/uv build --quiet --no-build-isolation --python $(RUN) --out-dir dist .
	@cp -r interfaces build/dist
	@for package in $(INTERFACES); do \
		.venv/bin/uv build --quiet --no-build-isolation --python $(RUN) --wheel --out-dir dist build/dist/interfaces/$$package || exit; \
	done
	@rm -f dist/.gitignore; ls -l dist

lint: setup-test
	@$(RUN) -m ruff check --quiet --output-format concise .
	@$(RUN) -m ruff format --check --quiet .
	@$(RUN) -m mypy --no-error-summary
	@$(RUN) tools/measures.py

# The kernels first: compiled within a test they would count against its time limit. Three at once on
# two cores, as tests of ROS mostly wait. Those that ARGS names are run, long or not.
test: lint
	@$(RUN) -m hrpsim warm-up
	@$(PYTEST) -n 3 --dist loadgroup $(if $(findstring test/,$(ARGS)),,-m "not long") $(ARGS)

test-all: test
	@$(PYTEST) -n 3 --dist loadgroup -m long

# What no one locked: the oldest releases that setup.cfg allows, and the newest that there are.
test-oldest test-newest: test-%: setup-test
	@.venv/bin/uv venv --quiet --allow-existing --python $(RUN) .venv/$*
	@.venv/bin/uv pip install --quiet --upgrade --python .venv/$*/bin/python -r requirements/$*.txt
	@PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH=. .venv/$*/bin/python -m pytest -p no:cacheprovider \
		-p pytest_timeout -p _hypothesis_pytestplugin --timeout 300 $(OF_VERSIONS)

# The newest releases with each other Python that is found: PYTHONS="/some/python3.10 python3.13".
test-pythons: setup-test
	@for python in $(PYTHONS); do \
		"$$python" -c 'import ensurepip, venv' 2>/dev/null || { echo "$$python: not here"; continue; }; \
		made=.venv/$$("$$python" -c 'import sys; print("python%d.%d" % sys.version_info[:2])'); \
		.venv/bin/uv venv --quiet --allow-existing --python "$$python" $$made && \
		.venv/bin/uv pip install --quiet --upgrade --python $$made/bin/python -r requirements/newest.txt && \
		PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH=. $$made/bin/python -m pytest -p no:cacheprovider \
			-p pytest_timeout -p _hypothesis_pytestplugin --timeout 300 $(OF_VERSIONS) || exit; \
	done

# The tests of ROS with another distribution: Kilted's wheels and the interface packages built for them.
test-kilted: setup-test
	@.venv/bin/uv venv --quiet --allow-existing --python $(RUN) .venv/kilted
	@.venv/bin/uv pip install --quiet --python .venv/kilted/bin/python -r requirements/kilted.txt
	@rm -rf .venv/kilted/interfaces && cp -r interfaces .venv/kilted
	@for package in $(INTERFACES); do \
		.venv/bin/uv pip install --quiet --no-deps --no-build-isolation --reinstall \
			--python .venv/kilted/bin/python .venv/kilted/interfaces/$$package || exit; \
	done
	@PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONPATH=$(CURDIR) .venv/kilted/bin/python -m pytest -p no:cacheprovider \
		-p xdist.plugin -p pytest_timeout -p _hypothesis_pytestplugin -n 3 --dist loadgroup -m "not long" \
		$(or $(ARGS),test/ros test/test_tf2_msgs.py)

# Both at once, one on each of two cores.
test-versions: setup-test
	@$(MAKE) --no-print-directory test-oldest >.venv/oldest.log 2>&1 & \
	$(MAKE) --no-print-directory test-newest && newest=0 || newest=1; \
	wait $$! && oldest=0 || oldest=1; cat .venv/oldest.log; exit $$((newest + oldest))

# Each file of tests gets as many minutes as 2 processes need to end together; seeds are printed.
fuzz: setup-test
	@$(RUN) -m hrpsim warm-up
	@seed=$${HRPSIM_FUZZ_SEED:-$$(date +%s)}; \
	each=$$(ls test/fuzz/test_*.py | awk 'END {print 2 * $(FUZZ_MINUTES) / NR}'); \
	echo "HRPSIM_FUZZ_SEED=$$seed HRPSIM_FUZZ_MINUTES=$$each for each file of test/fuzz"; \
	HRPSIM_FUZZ_SEED=$$seed HRPSIM_FUZZ_MINUTES=$$each $(PYTEST) -n 2 -rP test/fuzz $(ARGS)

format: setup-test
	@$(RUN) -m ruff check --fix .
	@$(RUN) -m ruff format .

# The pages name what the package is, so they are made in its environment; the tools stand beside it.
docs: setup-docs
	@PYTHONPATH=.venv/docs $(RUN) -m sphinx --quiet --fail-on-warning --keep-going \
		--doctree-dir build/doctrees docs build/docs
	@echo "build/docs/index.html"

gallery: setup-test
	@$(RUN) tools/gallery.py $(ARGS)

setup-docs: setup .venv/docs/complete

.venv/docs/complete: requirements/docs.txt
	@$(RUN) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "make docs needs Python 3.11 or later")'
	@rm -rf .venv/docs
	@.venv/bin/uv pip install --quiet --python $(RUN) --target .venv/docs --require-hashes \
		--requirement requirements/docs.txt
	@touch $@

# Apart from .venv, as it brings another pytest and its plugins.
setup-colcon: setup .venv/colcon/complete

.venv/colcon/complete: requirements/colcon.txt
	@rm -rf .venv/colcon
	@.venv/bin/uv pip install --quiet --python $(RUN) --target .venv/colcon --require-hashes \
		--requirement requirements/colcon.txt
	@touch $@

# Engines that are only timed are installed for it; one that has no wheel here is left out.
bench: setup-test
	@.venv/bin/uv pip install --quiet --python $(RUN) --only-binary :all: "pybullet>=3.2.7" \
		"dartpy>=6.19" drake || echo "without Bullet, dart and drake"
	@.venv/bin/uv pip install --quiet --python $(RUN) --only-binary :all: --no-deps \
		--target .venv/mujoco3 "mujoco<4" || echo "without mujoco 3"
	@$(RUN) -m evidence.benchmarks $(ARGS)

# Pages of laws and algorithms keep their head, up to the line "Measured"; those of experiments are
# written whole. A missed figure is shown on its page, and make fails.
verification: setup-test
	@missed=0; \
	measure() { (sed '/^## Measured/q' docs/verification/$$1.md; echo; cd test && ../$(RUN) -m $$2) \
		> verification.tmp || missed=1; mv verification.tmp docs/verification/$$1.md; }; \
	measure laws world.report; \
	measure closed_forms world.closed_form_report; \
	measure dynamics "dynamics.report 200"; \
	$(RUN) -m hrpsim reproduce all --output docs/images/reproduce --pages docs/verification \
		|| missed=1; \
	exit $$missed

# What the image has from its distribution, or does not need.
OF_IMAGE = lxml numpy pycollada python-dateutil pyyaml scipy six uv voluptuous

# One lock for every Python from 3.10 on and every extra that setup-test installs.
lock: setup-test
	.venv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" setup.py requirements/build.in \
		--extra record --extra plot --extra ros --extra viewer --extra onnx --extra sweep --extra learning --extra test \
		--output-file requirements/lock.txt
	.venv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.12 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" --constraint requirements/lock.txt \
		setup.py requirements/build.in --extra record --extra viewer \
		$(patsubst %,--no-emit-package %,$(OF_IMAGE)) --output-file requirements/image.txt
	.venv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" --constraint requirements/lock.txt \
		requirements/docs.in --output-file requirements/docs.txt
	.venv/bin/uv pip compile --quiet --upgrade --universal --python-version 3.10 --generate-hashes \
		--no-annotate --custom-compile-command "make lock" \
		requirements/colcon.in --output-file requirements/colcon.txt
	$(RUN) tools/licences.py

clean:
	rm -rf build dist install log output *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean
	rm -rf .venv
