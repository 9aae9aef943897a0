# Each line is one that you could type yourself. `make run` and `make test` set everything up on a fresh machine.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
CLASS := notebooks
EXTRAS := notebooks,theory,neural,gemma,cluster,dev
JOBS ?= 2
# an extra package index for torch, such as PyTorch's index of CPU builds
TORCH_INDEX ?=
COMPILED := tests/fuzz/test_kernels.py tests/accuracy/test_kernels.py tests/accuracy/test_surface.py tests/test_frontier.py tests/test_fan.py \
  tests/exact/test_convex.py tests/naturalness/test_lexical.py tests/divergences/test_mmd.py

.PHONY: run start test tests lab site docs pictures lint bounds bench calibrate mutate wmt24-tables strip clean

run: $(VENV)/.ready   ## every notebook on the bundled sample; results in build/
	$(BIN)/anhelpers run --out build --jobs $(JOBS)
	touch build/.run

# what is made from the executed notebooks runs them only where they, the package or the texts are newer
build/.run: $(VENV)/.ready $(shell find anhelpers data notebooks -type f -not -path '*/__pycache__/*')
	$(MAKE) run

start: $(VENV)/.class   ## the first notebook alone: open build/00_start_here.html and drag
	$(BIN)/anhelpers run 00_start_here --out build

test: $(VENV)/.ready   ## all tests that this machine can run (the rest is skipped with a reason), and lint beside them
	$(MAKE) -j2 lint tests

tests: $(VENV)/.ready
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile

lab: $(VENV)/.class   ## JupyterLab on the collection, at its first notebook
	$(BIN)/jupyter lab notebooks/00_start_here.ipynb

site: build/.run   ## one offline folder from the executed notebooks: build/site/index.html, to open by double click
	$(BIN)/anhelpers site

docs: $(VENV)/.ready   ## all documentation as pages, with a reference of every name: build/docs/index.html
	$(BIN)/python -m docs.build

pictures: $(VENV)/.ready   ## the picture of the README
	$(BIN)/anhelpers plane --data wmt24/en-de -o build/plane
	cp build/plane/plane.svg docs/wmt24_plane.svg

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bounds: $(VENV)/.ready   ## the tests of compiled code once more, with every index checked (a cache of its own: numba's ignores the flag)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/numba-bounds $(BIN)/python -m pytest -n $(JOBS) --dist loadfile \
	  -m "not browser and not notebook and not neural and not real" $(COMPILED)

bench: $(VENV)/.ready   ## speed beside named peers, as ratios from one run; results in build/bench
	$(BIN)/python -m benchmarks

calibrate: $(VENV)/.ready   ## how often intervals cover and tests reject, in simulated worlds; rewrites docs/calibration.tsv (about half an hour)
	$(BIN)/python -m calibration

mutate: $(VENV)/.ready   ## the share of small edits of the mathematics that the tests notice (half an hour)
	$(BIN)/python -m benchmarks.mutation

wmt24-tables: $(VENV)/.ready   ## the bundled scores of WMT's systems, from the texts of `anhelpers data --fetch` (hours without a cache)
	$(BIN)/python -m tools.tables wmt24/en-de wmt24/en-cs wmt24/ja-zh wmt23/en-de
	-$(BIN)/python -m tools.tables --segments 250 wmt24/en-es

strip: $(VENV)/.ready   ## remove outputs from the notebooks before a commit
	$(BIN)/nbstripout --keep-id notebooks/*.ipynb

# pip, because constraints.txt pins it all; a stamp makes a second call free and works offline
# pip would compile one file at a time, tests of libraries and all
define install
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -c constraints.txt -e ".[$(1)]"
	$(BIN)/python -m compileall -qq -j $(JOBS) -x '/tests?/|/transformers/models/' $(VENV)/lib || true
	-$(BIN)/jupyter labextension disable "@jupyterlab/apputils-extension:announcements"   # no news, no search for updates; of this folder alone
endef

# what a class needs: no torch, as the scores of the bundled texts come with their models
$(VENV)/.class: constraints.txt pyproject.toml
	$(call install,$(CLASS))
	touch $@

$(VENV)/.ready: constraints.txt pyproject.toml
	$(call install,$(EXTRAS))
	touch $(VENV)/.class $@

clean:
	rm -rf build .pytest_cache .ruff_cache
