#!/bin/sh
# Installs a Debian package for a program that is missing, where that is possible: `need.sh openssl openssl`.
set -eu
program=$1 package=$2
command -v "$program" >/dev/null && exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  apt-get update -qq && apt-get install -y -qq --no-install-recommends "$package" >/dev/null
else
  echo "$program is missing: install the package $package" >&2
  exit 1
fi
