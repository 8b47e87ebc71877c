#!/bin/sh
# Makes the virtual environment with everything in it: packages pinned by hash, then this tree, editable.
set -eu
venv=$1
rm -rf "$venv"
if ! python3 -m venv "$venv" 2>/dev/null; then
  rm -rf "$venv"
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >/dev/null
    python3 -m venv "$venv"
  else
    echo "python3 has no venv module: install the package python3-venv" >&2
    exit 1
  fi
fi
# The list is whole, so nothing is resolved: a pip that resolves trips over newer releases of what has extras.
"$venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements/dev.txt
"$venv/bin/pip" install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e audit -e .
"$venv/bin/pip" check --disable-pip-version-check
