# What ./tests/run checks: one function for each kind of step. Sourced by it, from the repository root; `skip`, `tally`, `run_counted` and
# `side_by_side` are its own.

build_tests() {  # PRESET
  local targets=(unit_tests)
  has_target "$1" poot && targets+=(poot)
  [ $mode = full ] && targets+=(tests)
  [ $mode = full ] && [ "$1" = release ] && targets+=(lessons benchmarks)
  build "$1" "${targets[@]}"
}

# One doctest program. A case that cannot run here prints one line `[SKIP] why` and counts as skipped, not as passed.
unit_tests() {  # PRESET STAGE
  local out=$logs/$step_name.doctest status cases_passed=0 cases_failed=1 left_out=0 cannot_run
  build "$1" "unit_$2" >"$out" 2>&1 || { cat "$out"; rm -f "$out"; echo "unit_$2 did not build"; return 1; }
  timeout "$test_seconds" "build/$1/tests/unit_$2" 2>&1 | tee "$out"
  status=${PIPESTATUS[0]}
  [ "$status" -eq 124 ] && echo "unit_$2 ran out of time"
  if [[ $(grep '^\[doctest\] test cases:' "$out") =~ \|\ *([0-9]+)\ passed\ \|\ *([0-9]+)\ failed\ \|\ *([0-9]+)\ skipped ]]; then
    cases_passed=${BASH_REMATCH[1]} cases_failed=${BASH_REMATCH[2]} left_out=${BASH_REMATCH[3]}
  else
    echo "unit_$2 ended without doctest's summary (status $status)"
  fi
  cannot_run=$(grep -c '^\[SKIP\]' "$out")
  rm -f "$out"
  [ "$cannot_run" -gt "$cases_passed" ] && cannot_run=$cases_passed
  tally $((cases_passed - cannot_run)) "$cases_failed" $((left_out + cannot_run))
  return "$status"
}

# What devices need: a machine that cannot install it still runs everything else.
device_packages() {  # WHAT PACKAGE…
  local what=$1
  shift
  install_packages "$@" || skip "$what: apt-get could not install $*"
}

headers_odr() {  # PRESET
  build "$1" headers_odr && "build/$1/tests/headers_odr"
}

cases() {  # PRESET [OPTION…]
  local files preset=$1
  shift
  has_target "$preset" poot || { skip "cases: the tool is not there (examples/tool)"; return; }
  build "$preset" poot >/dev/null || { build "$preset" poot; return 1; }
  files=("$POOT_SHARED"/cases/*.case.json)
  [ -e "${files[0]}" ] || { skip "cases: no $POOT_SHARED/cases"; return; }
  run_counted "build/$preset/poot" case "${files[@]}" "$@" | sed 's/^SKIP/[SKIP]/'
  return "${PIPESTATUS[0]}"
}

command_line() {  # PRESET
  has_target "$1" poot || { skip "command line: the tool is not there (examples/tool)"; return; }
  build "$1" poot >/dev/null || { build "$1" poot; return 1; }
  run_counted tests/tool/run "build/$1/poot"
}

# stories260K as a GGUF file with its recorded text, where the machine has it: prints the two files.
stories_files() {
  local from=$POOT_SHARED/models to=build/stories260K
  [ -r "$from/stories260K.bin" ] && python3 tests/models/llama2c_to_gguf.py "$from"/{stories260K.bin,tok512.bin,stories260K_greedy_tokens.txt} \
    "$to.gguf" "$to.txt" && echo "$to.gguf:$to.txt"
}

# Greedy texts of small models against those recorded beside them, fused and unfused. On a device the first run finds no
# kernel on disk, and the last one of a model finds every one there and submits launches one by one.
generated_texts() {  # PRESET [DEVICE]
  local folder=examples/models/meadow pair options status=0 preset=$1 on=() pairs ways stories
  has_target "$preset" poot || { skip "generated texts: the tool is not there (examples/tool)"; return; }
  build "$preset" poot >/dev/null || { build "$preset" poot; return 1; }
  pairs=("$folder/meadow.gguf:$folder/greedy_f16.txt" "$folder/meadow-q8_0.gguf:$folder/greedy_q8_0.txt")
  if stories=$(stories_files); then pairs+=("$stories"); else skip "stories260K: there is no $POOT_SHARED/models/stories260K.bin"; tally 0 0 1; fi
  if [ -n "${2:-}" ]; then
    on=(--device "$2")
    export POOT_CACHE_DIR=$PWD/build/kernels-of-texts
    rm -rf "$POOT_CACHE_DIR"
  fi
  for pair in "${pairs[@]}"; do
    ways=("" --unfused)
    # Q8_0 apart, whose steps differ in one kernel: a device that compiles slowly does so in each process.
    [ -n "${2:-}" ] && [[ $pair != *q8_0* ]] && ways=("" --unfused --no-replay)
    for options in "${ways[@]}"; do
      echo "${pair%:*} $options"
      if [ "$("build/$preset/poot" generate "${pair%:*}" -n 200 ${options:+"$options"} "${on[@]}")" = "$(cat "${pair#*:}")" ]; then tally 1 0 0
      else echo "error: the text is not that of ${pair#*:}"; tally 0 1 0; status=1; fi
    done
  done
  return $status
}

# Small models of each family, with random weights, against float64 in NumPy.
model_families() {  # PRESET [DEVICE [FAMILY|FORMAT|FAMILY-FORMAT…]]
  local python
  for python in python3 /usr/bin/python3; do "$python" -c 'import numpy' 2>/dev/null && break; python=; done
  [ -n "$python" ] || { skip "model families: no python3 has numpy (Debian: python3-numpy)"; return; }
  build "$1" model_logits && mkdir -p build/families &&
    PYTHONDONTWRITEBYTECODE=1 run_counted "$python" tests/models/check_families.py "build/$1/tests/model_logits" "${2:-host}" build/families "${@:3}"
}

# Processes that share a cold cache agree, and a cache that cannot be used or is corrupt costs time, not the text.
caches() {  # PRESET DEVICE
  local poot=build/$1/poot place status=0 expected i file
  local generate=("$poot" generate examples/models/meadow/meadow.gguf -n 12)
  build "$1" poot >/dev/null || { build "$1" poot; return 1; }
  place=$(mktemp -d) || return 1
  expected=$("${generate[@]}" 2>/dev/null) || return 1
  agrees() {  # WHAT TEXT
    echo "$1"
    if [ "$2" = "$expected" ]; then tally 1 0 0; else echo "error: $1: the text is '$2'"; tally 0 1 0; status=1; fi
  }
  on() { POOT_CACHE_DIR=$1 "${generate[@]}" --device "$device" 2>"$place/log"; }
  local device=$2
  for i in 1 2 3 4 5 6 7 8; do on "$place/shared" >"$place/text.$i" & done
  wait
  for i in 1 2 3 4 5 6 7 8; do agrees "process $i of eight on one cold cache" "$(cat "$place/text.$i")"; done
  agrees "afterwards" "$(on "$place/shared")"
  for file in "$place"/shared/*.bin; do printf 'x' | dd of="$file" bs=1 seek=$(($(stat -c %s "$file") - 9)) conv=notrunc status=none; done
  agrees "every entry is corrupt" "$(on "$place/shared")"
  for file in "$place"/shared/*.bin; do truncate -s -5 "$file"; done
  agrees "every entry is cut off" "$(on "$place/shared")"
  ln -s "$place/shared" "$place/link"
  agrees "the folder is a link" "$(on "$place/link")"
  : >"$place/file"
  agrees "the folder is a file" "$(on "$place/file")"
  agrees "the folder cannot be made" "$(on /proc/poot)"
  mkdir -m 777 "$place/open"
  agrees "anybody can write to the folder" "$(on "$place/open")"
  agrees "the disk is full" "$(trap '' XFSZ; ulimit -f 1; on "$place/full" | cat)"
  [ -z "$(find "$place/full" -name 'new-*')" ] || { echo "error: a full disk keeps files that are no entries"; tally 0 1 0; status=1; }
  rm -rf "$place"
  return $status
}

# A step on one software device, with a cache of its own.
on_vulkan() {  # DRIVER_FILE COMMAND…
  local driver=$1
  shift
  [ -r "$driver" ] || { skip "there is no $driver"; return; }
  VK_ICD_FILENAMES=$driver POOT_CACHE_DIR=$PWD/build/kernels "$@"
}

random_graphs() {  # PRESET: the seeds 1, 2, …, and the graphs that failed once
  local count=20000
  [ $mode != full ] && count=1000
  [ "$long" = 1 ] && count=1000000
  build "$1" random_graphs && run_counted timeout "$test_seconds" "build/$1/tests/random_graphs" "$count" 1 tests/random/cases
}

# Random graphs through generated kernels: on the kernel interpreter, as compiled C++ text, and on every Vulkan device.
random_on_devices() {  # PRESET PROGRAM [COUNT]
  local count=${3:-500}
  [ $mode != full ] && count=$((count / 5))
  [ "$long" = 1 ] && count=10000
  has_target "$1" "$2" || { skip "$2: it is not built here"; return; }
  build "$1" "$2" && run_counted "build/$1/tests/$2" "$count" 1
}

# One suite on every executor; a few samples of each family only where the run is quick.
device_suite() {  # PRESET
  local every=1
  [ $mode = quick ] && every=24
  build "$1" device_suite && run_counted timeout "$test_seconds" "build/$1/tests/device_suite" "$every"
}

# Both at once, each in one thread.
programs_on_devices() {  # PRESET
  build "$1" device_suite && { ! has_target "$1" random_vulkan || build "$1" random_vulkan; } || return 1
  side_by_side random_on_devices "$1" random_vulkan -- device_suite "$1"
}

fuzzers() {  # PRESET: each program takes the number of iterations and a seed
  local file name iterations=2000 status=0
  [ "$long" = 1 ] && iterations=2000000
  compgen -G 'tests/fuzz/*.cpp' >/dev/null || { skip "fuzzers: tests/fuzz is empty"; return; }
  build "$1" fuzzers || return 1
  for file in tests/fuzz/*.cpp; do
    name=fuzz_$(basename "$file" .cpp)
    echo "$name $iterations 1"
    if "build/$1/fuzz/$name" "$iterations" 1; then tally 1 0 0; else tally 0 1 0; status=1; fi
  done
  return $status
}

lessons() {
  local file name status=0
  compgen -G 'examples/[0-9][0-9]_*.cpp' >/dev/null || { skip "lessons: examples/ holds none yet"; return; }
  for file in examples/[0-9][0-9]_*.cpp; do
    name=$(basename "$file" .cpp)
    echo "== $name"
    if build release "lesson_$name" && "build/release/examples/$name"; then tally 1 0 0
    else echo "lesson $name failed"; tally 0 1 0; status=1; fi
  done
  echo "== the example of README.md"
  if build release lesson_readme && build/release/examples/readme; then tally 1 0 0
  else echo "the example of README.md failed"; tally 0 1 0; status=1; fi
  return $status
}

# Pages hold what the library prints now.
docs() {
  local page status=0
  build release docs_generated || return 1
  for page in ops walk; do
    if build/release/tests/docs_generated $page docs/$page.md; then tally 1 0 0; else tally 0 1 0; status=1; fi
  done
  return $status
}

# Kernels as text: what is written, what every compiler at hand says of it, and what it does.
golden_texts() {
  build release golden_texts && run_counted build/release/tests/golden_texts tests/golden
}

# 10,000 blocks of each format, a million where the run is long.
packed_blocks() {  # PRESET
  build "$1" packed_blocks && run_counted timeout "$test_seconds" "build/$1/tests/packed_blocks"
}

# Kernels that the library ships as text: equal to what generators write, and run on every executor.
imported_kernels() {
  build release imported_kernels && run_counted build/release/tests/imported_kernels include/poot/kernel/imported
}

# Registers, shared memory, stacks and occupancy of kernels, and the table of them in the page.
kernel_resources() {
  build release kernel_resources && run_counted build/release/tests/kernel_resources docs/targets.md
}

# The installed package and the source folder, each used by a project of its own.
package_installed() {
  local place
  place=$(mktemp -d) || return 1
  cmake --install build/release --prefix "$place/prefix" &&
    cmake -S conan/test_package -B "$place/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
          -DCMAKE_PREFIX_PATH="$place/prefix" && cmake --build "$place/build" && "$place/build/consumer"
  local status=$?
  rm -rf "$place"
  return $status
}
package_added() {
  local place
  place=$(mktemp -d) || return 1
  cmake -S tests/package -B "$place" -G Ninja -DCMAKE_BUILD_TYPE=Release &&
    cmake --build "$place" && "$place/consumer"
  local status=$?
  rm -rf "$place"
  return $status
}
package_conan() {
  command -v conan >/dev/null || { skip "conan: not installed"; return; }
  local home status
  home=$(mktemp -d) || return 1
  export CONAN_HOME=$home TMP=$home
  # Debian's Boost stands in for Conan's, so that nothing is fetched.
  conan profile detect && printf '\n[platform_requires]\nboost/1.81.0\n' >>"$home/profiles/default" &&
    conan create conan --no-remote -s compiler.cppstd=20 -c tools.cmake.cmake_layout:test_folder='$TMP'
  status=$?
  rm -rf "$home"
  return $status
}

compile_fail() {
  compgen -G 'tests/compile_fail/*/*.cpp' >/dev/null || { skip "compile-fail: tests/compile_fail holds none yet"; return; }
  run_counted python3 tests/compile_fail/run.py g++ clang++-19
}

flags_matrix() {
  [ -x tests/flags/run ] || { skip "flags: tests/flags/run is not there"; return; }
  run_counted tests/flags/run
}
