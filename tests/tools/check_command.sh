#!/usr/bin/env bash
# check: brink's own kernels pass, twice with the same bytes; a defect is found, and its repeat line repeats it.
# usage: bash check_command.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: check_command.sh PATH_TO_BRINK}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

status_of() { # OUTPUT ARGUMENT...
  local output="$1" status=0
  shift
  "$brink" "$@" >"$output" 2>"$folder/err" || status=$?
  printf '%s' "$status"
}

for run in 1 2; do
  status="$(status_of "$folder/$run" check --seed 3 --cases 150 --json)"
  [[ $status == 0 ]] || fail "check --seed 3 --cases 150: status $status: $(tail -3 "$folder/$run" "$folder/err")"
  grep -v '^ *"seconds": ' "$folder/$run" >"$folder/$run.stable"
  [[ $(wc -l <"$folder/$run") == $(($(wc -l <"$folder/$run.stable") + 1)) ]] || fail "one line of seconds was expected"
done
cmp "$folder/1.stable" "$folder/2.stable" || fail "the same seed did not give the same report"
status_of "$folder/4" check --seed 4 --cases 150 --json >/dev/null
if cmp -s "$folder/1.stable" <(grep -v '^ *"seconds": ' "$folder/4"); then fail "another seed gave the same report"; fi

status="$(status_of "$folder/out" check --seed 3 --cases 150)"
[[ $status == 0 ]] || fail "check in words: status $status"
grep -q '^OK: dispatched kernels are right, known defects fail as predicted$' "$folder/out" || fail "no OK line"
grep -q '^known defects: [1-9][0-9]* cases failed exactly as predicted$' "$folder/out" || fail "no known defect was met"
if grep -q '^FINDING' "$folder/out"; then fail "a finding in a check that passed"; fi

# As a user's own kernel the same defect is a finding.
status="$(status_of "$folder/out" check --impl spatial/u32 --op softmax_backward --cases 200)"
[[ $status == 1 ]] || fail "check --impl spatial/u32: status $status instead of 1"
grep -q '^FINDING softmax_backward spatial u32 ' "$folder/out" || fail "no finding was printed"
repeats=0
while read -r line; do
  read -r -a words <<<"${line#repeat: brink }"
  status="$(status_of "$folder/repeated" "${words[@]}")"
  [[ $status == 1 ]] || fail "$line: status $status instead of 1"
  repeats=$((repeats + 1))
done < <(grep '^  repeat: brink run ' "$folder/out")
[[ $repeats -gt 0 ]] || fail "no line begins with '  repeat: brink run'"
[[ $repeats == "$(grep -c '^FINDING' "$folder/out")" ]] || fail "not every finding has a line that repeats it"

# The right kernel passes the same examination.
status="$(status_of "$folder/out" check --impl spatial/i64 --op softmax_backward --cases 200)"
[[ $status == 0 ]] || fail "check --impl spatial/i64: status $status: $(tail -5 "$folder/out")"

# What time cuts off is said.
status="$(status_of "$folder/out" check --seed 3 --cases 100000 --op softmax_forward --time 1s)"
grep -q '^stopped by --time: [0-9]* of 100000 cases were not run$' "$folder/out" || fail "--time 1s: not said"
