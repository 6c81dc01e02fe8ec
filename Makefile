# Thin names for what the scripts and the CMake presets do. `make` builds build/release.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: release dev test docs demo check check-full check-peer check-packages bench model fuzz fmt install setup gpu-bundle wheel packages clean
release:
	@cmake --preset release >/dev/null
	@cmake --build --preset release -j $(JOBS)

dev:
	@cmake --preset dev >/dev/null
	@cmake --build --preset dev -j $(JOBS)

test: dev
	@ctest --preset dev -j $(JOBS)

docs: setup release
	@scripts/docs_site.py build/release/hone build/docs

setup:
	@scripts/setup

demo: setup
	@scripts/demo

check: setup
	@scripts/check

check-full:
	@scripts/setup --full
	@scripts/check --full

check-peer: setup
	@scripts/check_peer

wheel: setup release
	@scripts/wheel

packages: setup release
	@scripts/packages

check-packages: wheel packages
	@scripts/setup --packages
	@lintian --allow-root --fail-on error,warning build/packages/*.deb
	@tests/python/wheel.sh $(CURDIR) build/wheel/*.whl
	@tests/package/slurm.sh $(CURDIR) $(CURDIR)/build/release
	@tests/package/debian.sh $(CURDIR) bookworm build/packages/*.deb
	@tests/package/debian.sh $(CURDIR) bookworm build/wheel/*.whl
	@tests/package/debian.sh $(CURDIR) trixie build/wheel/*.whl

bench: release
	@scripts/bench $(BENCH)

model: release
	@scripts/model $(MODEL)

gpu-bundle:
	@scripts/gpu_bundle

fuzz:
	@scripts/fuzz --sequences 1000000 --seconds 300

fmt:
	@git ls-files -z '*.c' '*.h' | xargs -0 -r clang-format -i

install: release
	@cmake --install build/release --prefix $(PREFIX)

clean:
	@rm -rf build
