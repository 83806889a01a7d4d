#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what Gyre is built, tested and measured with, by name, on Debian 12 or Ubuntu. Does nothing,
# and needs no network, when everything is there. As root, or with sudo; without either it names what
# is missing, and fails only if the build cannot do without it.
set -euo pipefail

# Each group: "needed|optional: why: packages"
groups=(
  "needed: compiler and build tools: g++ cmake ninja-build pkg-config"
  "needed: libraries that Gyre uses (formatting, results, JSON, authentication, vector kernels): libfmt-dev libexpected-dev nlohmann-json3-dev libsodium-dev libhwy-dev"
  "needed: command lines of the benchmarks and of gyre-plan: libcli11-dev"
  "needed: plans of MSCCL, which are XML, for gyre-plan: libpugixml-dev"
  "needed: test frameworks, and the interpreter of checks on the source tree: libgtest-dev libgmock-dev librapidcheck-dev python3"
  "optional: launchers by PMIx, loaded at run time: libpmix2"
  "optional: MPI, for gyre::mpi and for comparisons: libopenmpi-dev openmpi-bin"
  "optional: simulation of plans on networks that are not there: libsimgrid-dev"
  "optional: plots of benchmarks: gnuplot-nox"
  "optional: drawings of plans: graphviz"
  "optional: formatting, static analysis, second compiler: clang clang-format clang-tidy"
  "optional: fuzzing of the parsers: libclang-rt-dev"
  "optional: model checker of the protocols in shared memory: spin"
  "optional: faster rebuilds: ccache"
)

# gnuplot in any flavour provides what gnuplot-nox does.
installed() {
  local wanted=$1
  [[ $wanted == gnuplot-nox ]] && command -v gnuplot >/dev/null && return 0
  [[ $(dpkg-query -W -f '${db:Status-Abbrev}' "$wanted" 2>/dev/null) == ii* ]]
}

missing_of() {
  local package
  for package in $1; do
    installed "$package" || echo "$package"
  done
}

missing=()
missing_needed=()
for group in "${groups[@]}"; do
  importance=${group%%: *}
  packages=${group##*: }
  why=${group#*: }
  why=${why%: *}
  absent=$(missing_of "$packages" | xargs)
  [[ -n $absent ]] || continue
  echo "missing ($importance): $absent - $why"
  read -ra names <<<"$absent"
  missing+=("${names[@]}")
  [[ $importance == needed ]] && missing_needed+=("${names[@]}")
done

if [[ ${#missing[@]} == 0 ]]; then
  echo "dependencies: everything is installed"
  exit 0
fi

may_use_sudo() {
  # With a terminal sudo may ask for the password; without one it must not need any.
  command -v sudo >/dev/null && { [[ -t 0 ]] || sudo -n true 2>/dev/null; }
}

# What the outcome depends on, whether packages were installed here or not.
finish() {
  local package
  for package in ${missing_needed[@]+"${missing_needed[@]}"}; do
    if ! installed "$package"; then
      echo "Gyre cannot be built without $package. Install it by hand: apt-get install $package" >&2
      exit 1
    fi
  done
  for package in "${missing[@]}"; do
    installed "$package" || echo "not installed: $package; what needs it is left out"
  done
  exit 0
}

as_root=()
if [[ $(id -u) != 0 ]]; then
  if ! may_use_sudo; then
    echo "Neither root nor sudo: nothing is installed."
    finish
  fi
  as_root=(sudo)
fi

install_packages() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends "$@"
}

echo "installing: ${missing[*]}"
"${as_root[@]}" apt-get update -q || echo "apt-get update failed; going on with what is known"
if ! install_packages "${missing[@]}"; then
  # One optional package that this release lacks must not stop the rest.
  echo "Not all could be installed together; trying them one by one."
  for package in "${missing[@]}"; do
    install_packages "$package" || true
  done
fi
finish
