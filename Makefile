# The commands of the course, thin. `make` alone lists them. Works with GNU make 3.81 and later.
PYTHON = .venv/bin/python
LESSONS ?=
FRESH ?=
FAST ?=
ALL ?=
REPO ?=
REF ?=
ONCE ?=
BUNDLE = dist/accelerator-course

# Matplotlib's list of fonts is kept with the environment it was made from: one that another
# environment left in the home folder may name fonts that are gone, and every plot says so.
export MPLCONFIGDIR = $(CURDIR)/.venv/matplotlib

# File by file on as many processes as there are cores, at most four: no test needs a quiet machine.
# The lessons run on small sizes and bundled data.
TESTS = $(PYTHON) -m pytest -rfEs -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
test test-all night: export ACCEL_FAST = 1
test test-all night: export ACCEL_DATA = bundled
test test-all night: export PYTHONHASHSEED = 0

.PHONY: help environment run lab test test-all night lint fix notebooks benchmarks wheel site bundle \
  stamp site-environment

help:
	@echo 'make run         execute the lessons here, write course_report/ (LESSONS="03", FAST=1, ALL=1)'
	@echo 'make lab         open the lessons in JupyterLab'
	@echo 'make test        lint, unit tests, every lesson: 4 to 10 minutes on two cores'
	@echo 'make test-all    the same and the slow tests, which CI runs: 10 to 25 minutes'
	@echo 'make night       what is left: the site, past runtimes, every lesson in a browser: an hour'
	@echo 'make fix         mend what a program can mend, and lint: style, types, the form of the lessons'
	@echo 'make notebooks   execute lessons, store what they say; FRESH=1 measures anew, on a quiet machine (LESSONS="03")'
	@echo 'make benchmarks  measure the claims about speed here, side by side: under ten minutes'
	@echo 'make site        the course as pages and slides, course_site/'
	@echo 'make wheel       build the package into dist/'
	@echo 'make bundle      one zip for a drive, a stick or a room without a network, into dist/'
	@echo 'make stamp       write the repository into badges and setup cells (REPO=owner/name, REF=main)'

environment:
	@sh .ci/environment

run: environment
	@$(PYTHON) tools/run_lessons.py $(if $(LESSONS),--lessons "$(LESSONS)") $(if $(filter-out 0,$(FAST)),--fast) $(if $(filter-out 0,$(ALL)),--all)

test: lint
	@$(TESTS) -m "not slow and not night"

test-all: lint
	@$(TESTS) -m "not night"

night: site-environment
	@$(TESTS) -m night

lint: environment
	@$(PYTHON) -m ruff check --quiet .
	@$(PYTHON) -m ruff format --check --quiet .
	@$(PYTHON) -m mypy --no-error-summary
	@$(PYTHON) tools/form.py
	@$(PYTHON) tools/status.py
	@$(PYTHON) tools/library.py --check
	@$(PYTHON) tools/minutes.py

# After a change to a lesson, a question or a docstring: format, and write anew what is made from it.
fix: environment
	@$(PYTHON) -m ruff check --fix --quiet . || true
	@$(PYTHON) -m ruff format --quiet .
	@$(PYTHON) tools/form.py --fix || true
	@$(PYTHON) tools/status.py --fix
	@$(PYTHON) tools/minutes.py --fix >/dev/null
	@$(PYTHON) tools/library.py
	@$(MAKE) --no-print-directory lint
	@echo 'In form. What lessons store is not made anew here: `make notebooks` does it, `make test` compares it.'

lab: environment
	@$(PYTHON) -m jupyterlab --notebook-dir=notebooks

notebooks: environment
	@$(PYTHON) -m ruff format --quiet notebooks
	@$(PYTHON) tools/build.py $(if $(filter-out 0,$(FRESH)),--fresh) $(foreach number,$(LESSONS),$(wildcard notebooks/$(number)_*.ipynb))
	@$(PYTHON) tools/status.py --fix
	@$(PYTHON) tools/library.py
	@$(PYTHON) tools/form.py

stamp: environment
	@$(PYTHON) tools/stamp.py $(if $(REPO),--repo "$(REPO)") $(if $(REF),--ref "$(REF)") $(if $(filter-out 0,$(ONCE)),--once)

wheel: environment
	@rm -rf build  # what an earlier build left there would end up in the wheel
	@$(PYTHON) -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@rm -rf build  # a folder of this name is a package to ruff, which would sort imports anew

benchmarks: environment
	@$(PYTHON) benchmarks/run.py

site-environment:
	@sh .ci/environment site

# The slides are made from the site's pages.
site: site-environment wheel
	@$(PYTHON) tools/questions_out.py course_site/take
	@$(PYTHON) tools/make_site.py && $(PYTHON) tools/slides.py

bundle: site
	@rm -rf $(BUNDLE) $(BUNDLE).zip && mkdir -p $(BUNDLE)/notebooks
	@cp -R course_site $(BUNDLE)/site
	@cp notebooks/[0-9]*.ipynb dist/accel_helpers-*.whl $(BUNDLE)/notebooks
	@cp LICENSE $(BUNDLE) && cp tools/bundle.txt $(BUNDLE)/README.txt
	@cd dist && ../$(PYTHON) -m zipfile -c accelerator-course.zip accelerator-course
