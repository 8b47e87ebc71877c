# `make demo` and `make test` set everything up themselves, on a fresh machine too.
.PHONY: demo test check bench gen lint types clean

PY := .venv/bin/python
SETUP := .venv/.complete
PROTOC := PATH="$(CURDIR)/.venv/bin:$$PATH" $(PY) -m grpc_tools.protoc -Iproto

demo: $(SETUP)
	.venv/bin/sealedshoe demo --out build/demo

test: $(SETUP)
	deploy/need.sh openssl openssl  # the time stamp authority of the tests
	$(PY) -m pytest -n 2 --dist loadfile

check: $(SETUP) gen lint types test
	@test -z "$$(git status --porcelain)" || { git status --short; echo "the tree is not clean"; exit 1; }

lint: $(SETUP)
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/buf lint
	.venv/bin/lint-imports

types: $(SETUP)
	.venv/bin/mypy
	.venv/bin/pyright

bench: $(SETUP)
	$(PY) -m tests.bench

gen: $(SETUP)
	$(PROTOC) --python_out=audit --mypy_out=audit proto/sealedshoe_audit/v1/*.proto
	$(PROTOC) --python_out=server --mypy_out=server --grpc_python_out=server --mypy_grpc_out=server proto/sealedshoe_server/v1/*.proto

# One .venv holds everything; packages are pinned by hash.
$(SETUP): requirements/dev.txt pyproject.toml audit/pyproject.toml
	deploy/make-venv.sh .venv
	touch $@

clean:
	rm -rf build .venv
