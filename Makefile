.PHONY: gen
PY := .venv/bin/python
gen:
	PATH="$(CURDIR)/.venv/bin:$$PATH" $(PY) -m grpc_tools.protoc -Iproto --python_out=audit --mypy_out=audit proto/sealedshoe_audit/v1/*.proto
	PATH="$(CURDIR)/.venv/bin:$$PATH" $(PY) -m grpc_tools.protoc -Iproto --python_out=server --mypy_out=server --grpc_python_out=server --mypy_grpc_out=server proto/sealedshoe_server/v1/*.proto
