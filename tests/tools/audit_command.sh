#!/usr/bin/env bash
# audit: the shipped files give what is known of them, in words and as JSON; a proposed command runs.
# usage: bash audit_command.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: audit_command.sh PATH_TO_BRINK}"
audits="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/corpus/audits"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*"
  exit 1
}

says() { # TEXT: the last output has it
  grep -qF -- "$1" "$folder/out" || fail "not said: $1"
}

"$brink" audit "$audits/pytorch_softmax.json" >"$folder/out" || fail "pytorch_softmax.json: status $?"
says 'test_softmax_backward_64bit_indexing: last_dim only, inner_size 1, above INT_MAX, never above UINT32_MAX, spatial never reached'
says 'WEAK      cannot fail on value: 4.66e-10 is 0 in f16'
says 'without 20.0 GiB it is skipped, which is no pass'
says 'spatial/columns backward above UINT32_MAX: never reached'

# What it proposes runs on this machine, and is right.
command="$(sed -n '/spatial\/columns backward above UINT32_MAX/{n;s/^ *brink \(.*--impl dispatched\) .*/\1/p}' "$folder/out")"
[[ -n $command ]] || fail "nothing is proposed for spatial backward"
read -r -a words <<<"$command"
"$brink" "${words[@]}" >/dev/null || fail "brink $command: status $?"

"$brink" audit "$audits/pytorch_softmax.json" --device-memory 16GiB >"$folder/out" || fail "--device-memory: status $?"
says 'SKIPPED on this device, reaches nothing: without 20.0 GiB it is skipped, which is no pass'
says 'spatial/columns forward above UINT32_MAX: never reached'

"$brink" audit "$audits/cub_large_offsets.json" --device-memory 12GiB >"$folder/out" || fail "cub: status $?"
says 'PASSES WITHOUT RUNNING on this device, reaches nothing: without 16.0 GiB it counts as success and has tested nothing'
says "27 rows count a lack of memory as success"
says 'never reached: cub::DeviceReduce::Sum: any array in memory, so no offset in bytes'
if grep -q 'last_dim\|spatial' "$folder/out"; then fail "a path of brink's is claimed for CUB"; fi

"$brink" audit "$audits/cub_large_offsets.json" --json >"$folder/out" || fail "--json: status $?"
says '"element_offsets": "above UINT32_MAX"'
says '"without_memory": "passes"'

rejects() { # TEXT FILE-CONTENT
  local status=0
  printf '%s' "$2" >"$folder/tests.csv"
  "$brink" audit "$folder/tests.csv" >"$folder/out" 2>"$folder/err" || status=$?
  [[ $status == 2 && $(wc -l <"$folder/err") == 1 && ! -s $folder/out ]] || fail "$1: status $status: $(cat "$folder/err")"
  grep -qF "brink: $folder/tests.csv: $1" "$folder/err" || fail "expected \"$1\": $(cat "$folder/err")"
}
header='name,operation,shape,dtype
'
rejects 'line 2 (a): field "shape": "four" is not a 64-bit integer' "${header}a,softmax_forward,four,f16"
rejects 'line 2 (a): field "dtype": unknown value "f8"' "${header}a,softmax_forward,4,f8"
rejects 'line 2: 3 cells where the first line names 4 columns' "${header}a,b,c"
rejects 'no tests in it' ''
