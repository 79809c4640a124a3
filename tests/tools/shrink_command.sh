#!/usr/bin/env bash
# shrink: a case becomes the simplest one that fails alike, is written once, and replays.
# usage: bash shrink_command.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: shrink_command.sh PATH_TO_BRINK}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# shellcheck source=tests/tools/expect.bash
source "$(dirname "${BASH_SOURCE[0]}")/expect.bash"

case_of() { # SHAPE AXIS IMPLEMENTATION
  printf '{"brink_case":1,"operation":"softmax_backward","shape":%s,"axis":%s,"dtype":"f32","implementation":"%s"}\n' "$@"
}

case_of '[3,2,2147508113]' 1 spatial/i32 >"$folder/case.json"
ends 0 shrink "$folder/case.json" -o "$folder/kept" --comment "an address"
says "kept: softmax_backward, spatial/i32, path spatial, index type i32"
says "written: $folder/kept/softmax_backward-spatial-i32-"
cp "$folder"/kept/*.json "$folder/first.json"
ends 0 replay "$folder/kept"
says "1 ok, 0 failed"

# The same again: the same bytes, the comment kept; another case of that name gets a number.
ends 0 shrink "$folder/case.json" -o "$folder/kept"
cmp "$folder"/kept/*.json "$folder/first.json" || fail "shrinking twice gave other bytes"
sed -i 's/"seed":0/"seed":1/' "$folder"/kept/*.json
sed -i 's/"seed": 0/"seed": 1/' "$folder"/kept/*.json
ends 0 shrink "$folder/case.json" -o "$folder/kept"
says "-2.json"
ends 2 shrink "$folder/case.json" -o "$(find "$folder/kept" -name '*.json' ! -name '*-2.json')"
grep -q "holds another case" "$folder/err" || fail "a different case would be replaced"

# What it wrote can be shrunk again, to itself.
ends 0 shrink "$folder/first.json" --json
diff <(grep -v -e '"comment"' -e '"runs"' "$folder/out" | sed '/"shrunk_from"/,/}/d') \
  <(grep -v -e '"comment"' -e '"runs"' "$folder/first.json" | sed '/"shrunk_from"/,/}/d') || fail "a shrunk case shrank"

# Every finding of a fuzzing run shrinks to a case that replays.
"$brink" fuzz --corpus "$folder/fuzzed" --time 8s --jobs 1 --limit 5 --impl spatial/u32 --impl spatial/i32 \
  --impl last_dim/u32 --impl numel_rule >"$folder/out" 2>&1
found=0
for finding in "$folder"/fuzzed/findings/*.json; do
  ends 0 shrink "$finding" -o "$folder/from_fuzz" --limit 5
  says "written: "
  found=$((found + 1))
done
((found > 3)) || fail "the fuzzing run had $found findings only"
ends 0 replay "$folder/from_fuzz"
[[ $(grep -c '^ok ' "$folder/out") == "$found" ]] || fail "$found findings, but $(grep -c '^ok ' "$folder/out") regressions"

# A crash file of libFuzzer is a case as bytes: here softmax_backward of [1, 2, 2147483649] over axis 1 by spatial/u32.
printf '\1\0\5\1\2\2\4\0\0\0\2\1\0\0\0\0\0\0' >"$folder/crash"
printf '\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\1\0\0\200\0\0\0\0' >>"$folder/crash"
ends 0 shrink "$folder/crash"
says "shrunk from softmax_backward [1, 2, 2147483649] axis 1 f16 spatial/u32 sparse"
says "softmax_backward [2, 2147483649] axis 0 f16 spatial/u32 sparse"

# Nothing to shrink.
case_of '[2,3,50]' 1 dispatched >"$folder/right.json"
ends 0 shrink "$folder/right.json" -o "$folder/none"
says "does not fail"
[[ ! -e $folder/none ]] || fail "something was written for a case that does not fail"
case_of '[3,5]' 1 spatial/u32 >"$folder/other.json"
ends 3 shrink "$folder/other.json"
says "not executed"

ends 2 shrink "$folder/absent.json"
head -c 30 "$folder/right.json" >"$folder/broken.json"
ends 2 shrink "$folder/broken.json"
ends 2 shrink

if ((failures > 0)); then exit 1; fi
