#!/usr/bin/env bash
# operations_fuzz, from an empty corpus, finds the wrap of spatial/u32 backward, says so as text, and its crash file becomes that text
# and comes back from it. Run with the path of the target.
set -euo pipefail

target="$1"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

fail() {
  printf 'FAILED: %s\n' "$1" >&2
  cat "$folder/log" >&2
  exit 1
}

status=0
"$target" --op=softmax_backward --impl=spatial/u32 --role=user -seed=1 -runs=2000 -artifact_prefix="$folder/" \
  >"$folder/log" 2>&1 </dev/null || status=$?
((status == 77)) || fail "status $status instead of libFuzzer's 77"
grep -q '^finding: spatial/u32 is mismatch$' "$folder/log" || fail "no finding"
grep -q '^repeat: brink run --op softmax_backward --shape .* --impl spatial/u32 ' "$folder/log" || fail "no command that repeats it"

crash=("$folder"/crash-*)
"$target" --to-text="${crash[0]}" >"$folder/case.json" || fail "the crash file is no case"
[[ "$(sed -n 's/^case: //p' "$folder/log")" == "$(cat "$folder/case.json")" ]] || fail "the crash file is another case"
"$target" --to-bytes="$folder/case.json" >"$folder/bytes" || fail "the text is no case"
cmp -s "$folder/bytes" "${crash[0]}" || fail "the text has other bytes"

# The case is found again at once where it is a seed.
mkdir "$folder/seeds"
cp "$folder/bytes" "$folder/seeds/"
status=0
"$target" --op=softmax_backward --impl=spatial/u32 --role=user -runs=0 -artifact_prefix="$folder/again-" "$folder/seeds" \
  >"$folder/log" 2>&1 </dev/null || status=$?
((status == 77)) || fail "status $status from the seed"

for bad in --impl=none --to-bytes="$folder/missing" --to-text= --frobnicate; do
  status=0
  "$target" "$bad" >"$folder/log" 2>&1 </dev/null || status=$?
  ((status == 2)) || fail "status $status instead of 2 for $bad"
  (($(grep -vc "^WARNING: Failed to find function" "$folder/log") == 1)) || fail "not one line for $bad"
done
