# make demo     from a fresh clone: the UR5e draws all edges of a cube; prints where the evidence lies
# make test     from a fresh clone: every test
# make install  the environment alone, with all extras
# make check    format, lint, types, the import rule and every test: what CI runs
# make peers    other people's solvers and Ray as well, for ``forearm bench ik``, ``forearm sweep`` and their tests
# make system   the system libraries for pictures, where they are missing and apt-get may install them
# make evidence the artifacts behind the README's figures

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
STAMP := $(VENV)/.installed

.PHONY: demo test install peers check lint system evidence clean

demo: $(STAMP)
	$(BIN)/forearm run cube --compare --out runs

test: $(STAMP)
	$(BIN)/pytest -n 2 --dist loadfile

install: $(STAMP)

check: lint test

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# After the environment, whose stamp stays as it is: what is added here is not needed for anything else.
peers: $(STAMP)
ifdef UV
	$(UV) pip install --python $(BIN)/python --editable '.[all,peers]'
else
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all,peers]'
endif

system:
	ldconfig -p | grep -q libEGL.so.1 || { apt-get update -qq && apt-get install -y -qq libegl1 libgl1-mesa-dri; }

evidence: peers
	$(BIN)/forearm bench ik --out runs
	$(BIN)/forearm bench kernels --out runs
	$(BIN)/forearm bench planar --out runs
	$(BIN)/forearm bench ur5e --out runs
	$(BIN)/forearm bench honesty --out runs
	$(BIN)/forearm bench insertion --out runs
	$(BIN)/forearm sweep insert --trials 10 --controller baseline --controller direct \
		--controller predictive --workers 2 --out runs
	$(BIN)/forearm sweep insert --trials 100 --controller predictive --workers 2 --out runs
	$(BIN)/forearm sweep insert --trials 100 --controller predictive --workers 2 --out runs \
		--perturb noise=0.001 --perturb delay=0.02
	$(BIN)/forearm run square --out runs
	$(BIN)/forearm run cube --compare --out runs

# The stamp is as old as the environment: it is remade when the project's requirements change.
$(STAMP): pyproject.toml
ifdef UV
	test -x $(BIN)/python || $(UV) venv --python $(PYTHON) $(VENV)
	$(UV) pip install --python $(BIN)/python --editable '.[all]'
else
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[all]'
endif
	touch $(STAMP)

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
