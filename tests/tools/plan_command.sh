#!/usr/bin/env bash
# plan: the same limits give the same plan; the run of a plan reaches every planned cell, and one that does not fails.
# usage: bash plan_command.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: plan_command.sh PATH_TO_BRINK}"
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

# All cells of the host within a second's worth of cases by the estimate.
status="$(status_of "$folder/out" plan --memory 200MiB --time 1s -o "$folder/plan")"
[[ $status == 0 ]] || fail "plan: status $status: $(cat "$folder/err")"
grep -Eq '^  cases +[1-9][0-9]* \([0-9]+ [a-z]+(, [0-9]+ [a-z]+)*\)$' "$folder/out" || fail "no number of cases: $(cat "$folder/out")"
grep -Eq '^  cells +[1-9][0-9]* of [1-9][0-9]* reachable$' "$folder/out" || fail "no number of cells"
grep -Eq '^  lower bound +[1-9][0-9]* cases' "$folder/out" || fail "no lower bound"
grep -Eq '^  left out +[1-9][0-9]* cells: time' "$folder/out" || fail "what --time leaves out is not said"
status_of "$folder/json" plan --memory 200MiB --time 1s --json >/dev/null
cmp "$folder/plan" "$folder/json" || fail "the same limits did not give the same plan"

status="$(status_of "$folder/out" check --plan "$folder/plan")"
[[ $status == 0 ]] || fail "check --plan: status $status: $(tail -5 "$folder/out" "$folder/err")"
grep -Eq '^plan: ([0-9]+) of \1 cells reached by [0-9]+ cases$' "$folder/out" || fail "not every cell was reached"

# A plan that asks a case for a cell of another.
sed '2s|"cells":\["|"cells":["spatial/reduce forward i8 nowhere", "|; 1s|"cells":\([0-9]*\)|"cells":\1+1|' "$folder/plan" >"$folder/more"
cells="$(sed -n '1s|.*"cells":\([0-9]*\)+1.*|\1|p' "$folder/more")"
sed -i "1s|\"cells\":[0-9]*+1|\"cells\":$((cells + 1))|" "$folder/more"
status="$(status_of "$folder/out" check --plan "$folder/more")"
[[ $status == 3 ]] || fail "a planned cell that was not reached: status $status instead of 3"
grep -qF 'planned, but never reached: spatial/reduce forward i8 nowhere' "$folder/out" || fail "the cell is not named"
status="$(status_of "$folder/out" check --plan "$folder/more" --json)"
[[ $status == 3 ]] || fail "the same with --json: status $status instead of 3"
grep -qF '"spatial/reduce forward i8 nowhere"' "$folder/out" || fail "the cell is not named in JSON"

# Without a file, check makes the plan itself; what --time cuts off the run was planned, too.
status="$(status_of "$folder/out" check --plan --time 0.001s)"
[[ $status == 3 ]] || fail "check --plan --time 0.001s: status $status instead of 3: $(tail -3 "$folder/out" "$folder/err")"
