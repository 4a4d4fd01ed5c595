# What ./tests/run and ./examples/run both need before anything is built: Debian's packages, and a preset configured.
# Sourced by them, from the repository root.

packages_to_build=(g++ cmake ninja-build ccache libboost1.81-dev nlohmann-json3-dev libcli11-dev libcpp-httplib-dev doctest-dev)
packages_to_test=("${packages_to_build[@]}" clang-19 libclang-rt-19-dev python3 python3-numpy
                  glslang-tools glslc spirv-tools libamdhip64-5 libhiprtc-builtins5)
packages_for_vulkan=(libvulkan-dev mesa-vulkan-drivers vulkan-validationlayers libshaderc-dev glslang-dev spirv-tools)
packages_for_swiftshader=(chromium)  # brings the second software device

# install_packages PACKAGE…: installs those that are missing. Fails with one sentence where it cannot.
install_packages() {
  local missing=() package as_root=()
  if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: taking what is installed (wanted, by Debian's names: $*)"
    return 0
  fi
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    echo "all $# packages are installed"
    return 0
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "error: these packages are missing, and neither root nor sudo is at hand: ${missing[*]}"
      return 1
    fi
    as_root=(sudo)
  fi
  echo "installing ${missing[*]}"
  "${as_root[@]}" apt-get update -q || echo "apt-get update failed; trying with the lists at hand"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" || {
    echo "error: apt-get could not install ${missing[*]}"
    return 1
  }
}

# configure PRESET: a build folder that was made elsewhere, or is broken, is made afresh.
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

# Two runs in one tree would build over each other: the second waits for the first.
wait_for_other_runs() {
  if ! mkdir -p build || ! touch build/lock; then
    echo "error: the folder build/ cannot be written to" >&2
    exit 1
  fi
  exec 9>build/lock
  flock -n 9 && return
  echo "another run is at work in this folder; waiting for it"
  flock 9
}
