# Sourced by tools/quickstart, tools/test and .ci/run: finds and installs what the build needs, configures and builds.
# Not a command of its own.
# shellcheck shell=bash disable=SC2034

brink_root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
brink_logs="$brink_root/build/logs"

# Debian package names. build_packages is enough for the brink command; test_packages are needed on top of it for the tests.
build_packages=(g++ cmake ninja-build ccache libboost-context-dev libfmt-dev nlohmann-json3-dev libcli11-dev libeigen3-dev
  librapidcheck-dev libclang-rt-14-dev rapidjson-dev)
test_packages=(libgtest-dev libgmock-dev)
bench_packages=(libbenchmark-dev)
slurm_packages=(slurmctld slurmd slurm-client munge jq) # only .ci/run installs them, for tests/tools/slurm_array.sh

die() { # MESSAGE [STATUS]: one line to stderr, then exit (2 unless given)
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit "${2:-2}"
}

phase_start() { # TEXT: says what begins now
  printf '== %s\n' "$1"
  brink_phase_began=$SECONDS
}

phase_end() { # says how long it took
  printf '== done in %d s\n' "$((SECONDS - brink_phase_began))"
}

logged() { # NAME COMMAND...: output to build/logs/NAME.log; its last lines are shown where the command fails
  local log="$brink_logs/$1.log" status=0
  shift
  mkdir -p "$brink_logs"
  "$@" >"$log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then
    tail -n 40 "$log" >&2
    die "'$1' failed with status $status; all of its output: $log" 2
  fi
}

has_header() { # HEADER: the C++ compiler finds it
  [[ "$(printf '#if __has_include(<%s>)\nfound\n#endif\n' "$1" | c++ -E -P -x c++ - 2>/dev/null)" == *found* ]]
}

has_package() { # DEBIAN_NAME: installed, by whatever means for a tool; by dpkg, or where there is none by its header, for a library
  if command -v dpkg-query >/dev/null && [[ "$(dpkg-query -W -f '${db:Status-Abbrev}' "$1" 2>/dev/null)" == ii* ]]; then
    return 0
  fi
  case "$1" in
    g++) command -v c++ >/dev/null && return 0 || return 1 ;;
    ninja-build) command -v ninja >/dev/null && return 0 || return 1 ;;
    slurm-client) command -v sbatch >/dev/null && return 0 || return 1 ;;
    munge) command -v munged >/dev/null && return 0 || return 1 ;;
    cmake | ccache | git | clang-format | clang-tidy | slurmctld | slurmd | jq) command -v "$1" >/dev/null && return 0 || return 1 ;;
  esac
  if command -v apt-get >/dev/null; then
    return 1
  fi
  case "$1" in
    libboost-context-dev) has_header boost/context/fiber.hpp ;;
    libfmt-dev) has_header fmt/format.h ;;
    nlohmann-json3-dev) has_header nlohmann/json.hpp ;;
    libcli11-dev) has_header CLI/CLI.hpp ;;
    libeigen3-dev) has_header eigen3/Eigen/Core || has_header Eigen/Core ;;
    librapidcheck-dev) has_header rapidcheck.h ;;
    libclang-rt-14-dev) compgen -G "/usr/lib/llvm-*/lib/clang/*/lib/*/libclang_rt.fuzzer_no_main*" >/dev/null ;;
    rapidjson-dev) has_header rapidjson/reader.h ;;
    libgtest-dev) has_header gtest/gtest.h ;;
    libgmock-dev) has_header gmock/gmock.h ;;
    libbenchmark-dev) has_header benchmark/benchmark.h ;;
    *) return 1 ;;
  esac
}

install_missing() { # DEBIAN_NAME...: installs those that are not there; only they are touched
  local package missing=() as_root=()
  for package in "$@"; do
    has_package "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    printf '== everything needed is installed\n'
  else
    command -v apt-get >/dev/null ||
      die "this system has no apt-get; please install (Debian's names): ${missing[*]}"
    if ((EUID != 0)); then
      command -v sudo >/dev/null || die "missing, and neither root nor sudo to install them: ${missing[*]}"
      as_root=(sudo)
    fi
    phase_start "installing ${#missing[@]} packages: ${missing[*]}"
    logged apt-update ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get update
    logged apt-install ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y --no-install-recommends "${missing[@]}"
    phase_end
  fi
  local version
  version="$(cmake --version | sed -n '1s/^cmake version //p')"
  if [[ "$(printf '%s\n3.25\n' "$version" | sort -V | head -n 1)" != 3.25 ]]; then
    die "cmake $version is too old: 3.25 or newer is needed"
  fi
}

configure() { # PRESET [CMAKE_OPTION...]
  local preset="$1"
  shift
  phase_start "configuring build/$preset"
  cd "$brink_root" || die "no such folder: $brink_root"
  logged "configure-$preset" cmake --preset "$preset" "$@"
  sed -n 's/^-- brink: //p' "$brink_logs/configure-$preset.log"
  phase_end
}

build() { # PRESET [TARGET...]: every target unless some are named
  local preset="$1" quiet=()
  shift
  phase_start "building ${*:-everything} in build/$preset"
  [[ -t 1 ]] || quiet=(-- --quiet)
  cd "$brink_root" || die "no such folder: $brink_root"
  CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
    cmake --build --preset "$preset" ${1:+--target "$@"} ${quiet[@]+"${quiet[@]}"} </dev/null ||
    die "building in build/$preset failed (above)"
  phase_end
}
