#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image of this autograder (Configure Autograder, Update Autograder).
# Debian or Ubuntu with Python 3.11 or newer: choose Ubuntu 22.04 or newer as the base image.
set -euo pipefail
chmod -R go= /autograder/source
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install --yes --no-install-recommends ca-certificates bubblewrap
for version in 3.13 3.12 3.11 none; do
  apt-get install --yes --no-install-recommends "python$version" "python$version-venv" && break
done
if [ "$version" = none ]; then
  echo "There is no Python 3.11 or newer in this base image: choose a newer one."
  exit 1
fi
"python$version" -m venv /autograder/python
/autograder/python/bin/pip install --no-cache-dir --requirement /autograder/source/requirements.txt
touch /autograder/python/lmbook-alone
