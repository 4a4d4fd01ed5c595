# What ./tests/run and ./examples/run both need before anything is built: Debian's packages, and a preset configured.
# Sourced by them, from the repository root.

packages=(g++ clang-19 libclang-rt-19-dev cmake ninja-build ccache python3
          doctest-dev libboost1.81-dev nlohmann-json3-dev libcli11-dev libbenchmark-dev)

# Installs those of `packages` that are missing. Fails with one sentence where it cannot.
install_packages() {
  local missing=() package
  if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: taking what is installed (wanted: ${packages[*]})"
    return 0
  fi
  for package in "${packages[@]}"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "all ${#packages[@]} packages are installed"
    return 0
  fi
  echo "installing ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "error: these packages are missing, and neither root nor sudo is at hand: ${missing[*]}"
      return 1
    fi
    as_root=(sudo)
  fi
  "${as_root[@]}" apt-get update -q || echo "apt-get update failed; trying with the lists at hand"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# configure PRESET: a build folder that was configured elsewhere or broken is configured afresh.
configure() {
  cmake --preset "$1" || cmake --fresh --preset "$1"
}

# build PRESET TARGET…: goes on after an error, so that one broken file hides no other.
build() {
  local preset=$1
  shift
  cmake --build --preset "$preset" --parallel "${POOT_JOBS:-2}" --target "$@" -- -k 0
}

# has_target PRESET TARGET
has_target() {
  ninja -C "build/$1" -t query "$2" >/dev/null 2>&1
}
