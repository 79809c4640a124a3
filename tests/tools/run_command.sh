#!/usr/bin/env bash
# The exit status of run is the verdict, and its JSON says the same.
# usage: bash run_command.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: run_command.sh PATH_TO_BRINK}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# ends STATUS ARGUMENT...: standard output is left in $folder/out.
ends() {
  local expected="$1" status=0
  shift
  "$brink" "$@" >"$folder/out" 2>"$folder/err" || status=$?
  [[ $status == "$expected" ]] || fail "brink $*: status $status instead of $expected: $(head -3 "$folder/err")"
  if [[ -s $folder/err ]]; then fail "brink $*: standard error is not empty: $(head -3 "$folder/err")"; fi
}

says() { grep -qF -- "$1" "$folder/out" || fail "the output does not say \"$1\""; }

# json EXPRESSION: must be true of the JSON `j` that was printed; nothing where there is no python3.
json() {
  python3 -c 'import json, sys' 2>/dev/null || return 0
  python3 -c "import json, sys; j = json.load(open(sys.argv[1])); sys.exit(0 if ($1) else 1)" "$folder/out" ||
    fail "not true of the JSON: $1"
}

seed=(--op softmax_backward --shape 1,2,2147483649 --axis 1)

# pytorch#188031
ends 1 run "${seed[@]}" --impl spatial/u32
says "mismatch"
says "element_offset: 4294967296 becomes 0 at outer 0 dim 1 inner 2147483647"
says "prediction and observation agree"
says "  repeat: brink run --op softmax_backward --shape 1,2,2147483649 --axis 1"

ends 1 run "${seed[@]}" --impl spatial/u32 --json
json 'j["prediction"]["verdict"] == j["observation"]["verdict"] == "mismatch"'
json 'j["prediction"]["path"] == "spatial" and j["prediction"]["index_type"] == "u32"'
json 'j["prediction"]["first_overflow"]["expression"] == "element_offset"'
json 'j["prediction"]["first_overflow"]["exact"] == 4294967296 and j["prediction"]["first_overflow"]["wrapped"] == 0'
json 'j["observation"]["contended"] == [{"outer": [0, 0], "dim": [0, 0], "inner": [0, 1]}]'
json 'j["observation"]["wrong"] == [{"outer": [0, 0], "dim": [0, 0], "inner": [2147483647, 2147483648]}]'
json 'j["observation"]["never_written"] == [{"outer": [0, 0], "dim": [1, 1], "inner": [2147483647, 2147483648]}]'
json 'j["agree"] is True and j["differences"] == [] and j["findings"] == ["spatial/u32 is mismatch"]'

# Its JSON holds the case itself, which runs to the same verdict.
if python3 -c 'import json, sys; json.dump(json.load(open(sys.argv[1]))["case"], open(sys.argv[2], "w"))' \
  "$folder/out" "$folder/case.json" 2>/dev/null; then
  ends 1 run "$folder/case.json"
  says "element_offset: 4294967296 becomes 0"
fi

ends 0 run "${seed[@]}" --impl dispatched
says "i64"
ends 0 run "${seed[@]}" --impl dispatched --json
json 'j["observation"]["verdict"] == "ok" and j["observation"]["index_type"] == "i64" and j["findings"] == []'

# The shape of the test that passed for years: another path, so nothing ran, and that is not a pass.
ends 3 run --op softmax_backward --shape 1,1,4294967298 --axis 2 --impl spatial/u32
says "not_executed"
says "last_dim"
ends 3 run --op softmax_backward --shape 1,1,4294967298 --axis 2 --impl spatial/u32 --json
json 'j["observation"]["verdict"] == "not_executed" and j["agree"] is False and "last_dim" in j["observation"]["reason"]'

ends 0 run --shape scalar --axis 0
ends 0 run --shape 3,0,5 --axis 1
says "the tensor is empty"
ends 0 run --shape 2,3,5 --axis=-2 --memory dense

# What leaves dense memory takes a worker process with it, not the command.
ends 1 run --shape 1,3,64 --axis 1 --impl spatial/i8 --memory dense
says "fault"
ends 1 run --shape 1,2,4294967000 --axis 1 --impl spatial/u32
says "hang"

# Predictions run nothing and always succeed.
ends 0 predict "${seed[@]}" --impl spatial/u32 --json
json 'j["prediction"]["verdict"] == "mismatch" and j["prediction"]["exact"] is True and "observation" not in j'
ends 0 predict --shape 641,6700417 --axis 0 --impl spatial/u32
says "1 element: outer 0 dim 640 inner 6700416"

ends 0 list operations
[[ $(wc -l <"$folder/out") == 4 ]] || fail "list operations: not 4 lines"
ends 0 list implementations
for name in dispatched numel_rule spatial/u32 last_dim/u32 spatial/i8; do says "$name "; done
ends 0 list cells
says "spatial/columns backward u32 element_offset 2^32-1 above end resident"
ends 0 --version
ends 0 --help
says "Exit status: 0 ok, 1 a finding, 2 bad usage or input, 3"

if ((failures > 0)); then exit 1; fi
