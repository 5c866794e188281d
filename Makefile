# make run: the main job · make test: all tests · make quick: those without processes and browsers
# make check: lint, types, layers, docs, lower bounds, words and sentences · make bench: speed
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
# of the tests: as many as cores; where they start processes and browsers one more, as they wait for these a third of the time
WORKERS ?= 2
test test-random: WORKERS = 3

# Python keeps what it made of a source file, also where the environment says no: tests start many processes
export PYTHONDONTWRITEBYTECODE :=

.PHONY: run reproduce test test-random test-long quick boundscheck soak lowest newest prerelease coverage release-check pythons dist check bench docs clean tools
.DEFAULT_GOAL := run

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,docs]'
	touch $@

run: $(READY)
	$(BIN)/byzmab reproduce all --out out

# the same with more runs, for narrower intervals
reproduce: $(READY)
	$(BIN)/byzmab reproduce all --runs 200 --out out-200

test: $(READY) tools
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

# all tests, with modules and the tests of each in a random order; ORDER=SEED, as an earlier run has shown it, repeats one
ORDER ?= $(shell date +%s)
test-random: $(READY) tools
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal --random-order --random-order-seed=$(ORDER)

# all tests that start no process and no browser, one case in eight of those with many
quick: $(READY)
	$(BIN)/python -m pytest --quick --sample --numprocesses $(WORKERS) --dist worksteal

# every plug-in, and parity, with every index checked: what reads or writes outside its arrays raises there; one in eight in make test
boundscheck: $(READY)
	BYZMAB_PAIRS=all $(BIN)/python -m pytest -k with_every_index_checked tests/test_boundscheck.py

# nodes under faults and insiders for SOAK (90s, 10m, 1h), from SEED; FAULTS=kill,freeze picks some of them
SOAK ?= 10m
SEED ?=
FAULTS ?=
soak: $(READY)
	PYTHONPATH=tests $(BIN)/python -m soak --time $(SOAK) $(if $(SEED),--seed $(SEED)) $(if $(FAULTS),--faults $(FAULTS))

# tests with larger numbers: a hundred kills, a hundred thousand broken frames, a million events, every filter × policy, a hundred runs, two thousand decisions
test-long: $(READY)
	BYZMAB_KILLS=100 BYZMAB_FRAMES=100000 BYZMAB_EVENTS=1000000 BYZMAB_PAIRS=all BYZMAB_RUNS=100 BYZMAB_HORIZON=2000 $(BIN)/python -m pytest \
		tests/node/test_crash.py tests/node/test_host.py tests/node/test_backlog.py tests/parity tests/test_boundscheck.py \
		tests/simulation/test_simulate.py tests/testbed/test_regret.py

# the oldest dependencies that pyproject.toml allows: installed, and the tests without processes and browsers run with them
lowest: $(READY)
	$(PYTHON) -m venv .venv-lowest
	$(BIN)/python tests/lowest.py > .venv-lowest/lowest.txt
	.venv-lowest/bin/python -m pip install --quiet --disable-pip-version-check --constraint .venv-lowest/lowest.txt \
		--editable '.[dask,node,search,study]' hypothesis pytest pytest-timeout pytest-xdist schemathesis
	.venv-lowest/bin/python -m pytest --quick --sample --numprocesses $(WORKERS) --dist worksteal

# the newest dependencies that pyproject.toml allows, whatever constraints.txt says
newest:
	$(PYTHON) -m venv .venv-newest
	.venv-newest/bin/python -m pip install --quiet --disable-pip-version-check --upgrade --upgrade-strategy eager \
		--editable '.[dask,node,search,study]' hypothesis pytest pytest-timeout pytest-xdist schemathesis
	.venv-newest/bin/python -m pytest --quick --sample --numprocesses $(WORKERS) --dist worksteal

# the next versions of numba and numpy, release candidates included: shows early what will break
prerelease:
	$(PYTHON) -m venv .venv-prerelease
	.venv-prerelease/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dask,node,search,study]' \
		hypothesis pytest pytest-timeout pytest-xdist schemathesis
	.venv-prerelease/bin/python -m pip install --quiet --disable-pip-version-check --pre --upgrade numba llvmlite numpy
	BYZMAB_PLAIN_NUMBA=1 .venv-prerelease/bin/python -m pytest --quick --sample --numprocesses $(WORKERS) --dist worksteal

# which lines of Python the quick tests run; lines of compiled functions do not count: see CONTRIBUTING.md
coverage: $(READY)
	$(BIN)/python -m pytest --quick --sample --numprocesses $(WORKERS) --dist worksteal --cov=byzmab --cov-report=term:skip-covered

# before a release: version, changelog, citation and tag agree; TAG=v1.2.3 as it will be pushed
TAG ?=
release-check: $(READY)
	$(BIN)/python tests/release.py $(TAG)

# the quick tests on every Python we support that is on this machine, in the path or with pyenv, each in an environment of its own
PYTHONS ?= 3.11 3.12 3.13 3.14
pythons:
	@for version in $(PYTHONS); do \
		python=$$(for found in python$$version $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$$version.*/bin/python$$version; do \
			$$found -c '' 2> /dev/null && echo $$found && break; done); \
		if [ -n "$$python" ]; then \
			echo "Python $$version: $$python" && $$python -m venv .venv-$$version && \
			.venv-$$version/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
				--editable '.[dask,node,search,study]' hypothesis pytest pytest-timeout pytest-xdist schemathesis && \
			.venv-$$version/bin/python -m pytest --quick --sample --numprocesses $(WORKERS) --dist worksteal || exit 1; \
		else echo "Python $$version: not on this machine"; fi; \
	done

# the wheel and the source distribution, checked in an empty environment: what would be published
dist: $(READY)
	rm -rf dist .venv-dist
	$(BIN)/python -m build --outdir dist > /dev/null
	$(BIN)/python -m twine check --strict dist/*
	$(PYTHON) -m venv .venv-dist
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt dist/*.whl
	cd .venv-dist && bin/python ../tests/wheel.py bare
	.venv-dist/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt "$$(ls dist/*.whl)[node,study]"
	cd .venv-dist && bin/python ../tests/wheel.py
	$(BIN)/python tests/container.py "$$(ls dist/*.whl)"
	rm -rf .venv-dist

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	$(BIN)/python tests/lowest.py > /dev/null  # every dependency has a lower bound
	$(BIN)/python tests/prose.py

# Debian's packages for tests: the browser, and the tools that judge the files in deploy/; installed where we may.
# Recommended packages only with the browser, as fonts are. The service that comes with Prometheus is not left running.
tools:
	@browser=""; judges=""; \
	command -v chromium > /dev/null || browser=" chromium"; \
	command -v prometheus > /dev/null && command -v promtool > /dev/null || judges=" prometheus"; \
	command -v systemd-analyze > /dev/null || judges="$$judges systemd"; \
	if [ -z "$$browser$$judges" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "missing: install Debian's packages$$browser$$judges, then run make test again" >&2; exit 1; fi; \
	export DEBIAN_FRONTEND=noninteractive; apt-get update -qq || exit 1; \
	if [ -n "$$browser" ]; then apt-get install -y -qq $$browser > /dev/null || exit 1; fi; \
	if [ -n "$$judges" ]; then apt-get install -y -qq --no-install-recommends $$judges > /dev/null || exit 1; fi; \
	case "$$judges" in *prometheus*) if [ -d /run/systemd/system ]; then systemctl --quiet disable --now prometheus; fi ;; esac

bench: $(READY)
	$(BIN)/python -m benchmarks

docs: $(READY)
	$(BIN)/mkdocs serve

clean:
	rm -rf .venv .venv-* dist out site
