#!/usr/bin/env bash
# On a machine without a GPU, --device cuda says why nothing ran, and does not pass.
# usage: bash no_gpu.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: no_gpu.sh PATH_TO_BRINK}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
arguments=(--op softmax_backward --shape 1,2,9 --axis 1 --device cuda)

fail() {
  printf 'FAILED: %s\n' "$*"
  sed 's/^/  | /' "$folder/out" "$folder/err"
  exit 1
}

# What a run on this machine does says whether there is a GPU.
status=0
"$brink" run "${arguments[@]}" >"$folder/out" 2>"$folder/err" || status=$?
if [[ $status == 0 ]]; then
  printf 'there is a GPU here\n'
  exit 77
fi
[[ $status == 3 ]] || fail "run --device cuda: status $status instead of 3"
grep -q '^  reason  *[^ ]' "$folder/out" || fail "run --device cuda: no reason"
grep -q 'not_executed' "$folder/out" || fail "run --device cuda: no verdict"

status=0
"$brink" predict "${arguments[@]}" >"$folder/out" 2>"$folder/err" || status=$?
[[ $status == 2 ]] || fail "predict --device cuda: status $status instead of 2"
[[ $(wc -l <"$folder/err") == 1 && ! -s $folder/out ]] || fail "predict --device cuda: not one line on standard error"
grep -qF -- '--device cuda' "$folder/err" || fail "predict --device cuda: the line does not name the option"

status=0
"$brink" check --device cuda --cases 20 >"$folder/out" 2>"$folder/err" || status=$?
[[ $status == 3 ]] || fail "check --device cuda: status $status instead of 3"
grep -q '^not executed: ' "$folder/out" || fail "check --device cuda: no reason"
