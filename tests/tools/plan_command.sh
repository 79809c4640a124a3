#!/usr/bin/env bash
# plan: the same limits give the same plan; the run of a plan reaches every planned cell, and one that does not fails.
# usage: bash plan_command.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: plan_command.sh PATH_TO_BRINK}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# shellcheck source=tests/tools/expect.bash
source "$(dirname "${BASH_SOURCE[0]}")/expect.bash"

# All cells of the host within a second's worth of cases by the estimate.
ends 0 plan --memory 200MiB --time 1s -o "$folder/plan"
grep -Eq '^  cases +[1-9][0-9]* \([0-9]+ [a-z]+(, [0-9]+ [a-z]+)*\)$' "$folder/out" || fail "no number of cases: $(cat "$folder/out")"
grep -Eq '^  cells +[1-9][0-9]* of [1-9][0-9]* reachable$' "$folder/out" || fail "no number of cells"
grep -Eq '^  lower bound +[1-9][0-9]* cases' "$folder/out" || fail "no lower bound"
grep -Eq '^  left out +[1-9][0-9]* cells: time' "$folder/out" || fail "what --time leaves out is not said"
ends 0 plan --memory 200MiB --time 1s --json
cmp "$folder/plan" "$folder/out" || fail "the same limits did not give the same plan"

ends 0 check --plan "$folder/plan"
grep -Eq '^plan: ([0-9]+) of \1 cells reached by [0-9]+ cases$' "$folder/out" || fail "not every cell was reached"

# A plan that asks a case for a cell of another.
sed '2s|"cells":\["|"cells":["spatial/reduce forward i8 nowhere", "|; 1s|"cells":\([0-9]*\)|"cells":\1+1|' "$folder/plan" >"$folder/more"
cells="$(sed -n '1s|.*"cells":\([0-9]*\)+1.*|\1|p' "$folder/more")"
sed -i "1s|\"cells\":[0-9]*+1|\"cells\":$((cells + 1))|" "$folder/more"
ends 3 check --plan "$folder/more"
grep -qF 'planned, but never reached: spatial/reduce forward i8 nowhere' "$folder/out" || fail "the cell is not named"
ends 3 check --plan "$folder/more" --json
grep -qF '"spatial/reduce forward i8 nowhere"' "$folder/out" || fail "the cell is not named in JSON"

# Without a file, check makes the plan itself; what --time cuts off the run was planned, too.
ends 3 check --plan --time 0.001s

((failures == 0))
