#!/usr/bin/env bash
# The committed corpus gives the verdicts that it states; and a replay can fail.
# usage: bash replay_corpus.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: replay_corpus.sh PATH_TO_BRINK}"
corpus="$(dirname "${BASH_SOURCE[0]}")/../../corpus"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT

# shellcheck source=tests/tools/expect.bash
source "$(dirname "${BASH_SOURCE[0]}")/expect.bash"

ends 0 replay "$corpus"
says " 0 failed, 0 broken, 0 not executed"
[[ $(grep -c '^ok ' "$folder/out") == "$(find "$corpus" -name audits -prune -o -name '*.json' -print | wc -l)" ]] || fail "not every file was replayed"

# Verdicts that are not what the file says.
seed="$corpus/regressions/softmax_backward-spatial-u32-element_offset-mismatch.json"
mkdir "$folder/copies"
sed 's/"dispatched": "ok"/"dispatched": "mismatch"/' "$seed" >"$folder/copies/dispatched.json"
ends 1 replay "$folder/copies"
says "dispatched is ok, expected mismatch"
says "  repeat: brink run --op softmax_backward --shape 2,2147483649"
sed 's/"spatial\/u32": "mismatch"/"spatial\/u32": "unwritten"/' "$seed" >"$folder/copies/dispatched.json"
ends 1 replay "$folder/copies"
says "spatial/u32 is mismatch, expected unwritten"

# A defect that is mended must be noticed.
sed 's|spatial/u32|spatial/i64|g' "$seed" >"$folder/copies/dispatched.json"
ends 1 replay "$folder/copies/dispatched.json"
says "spatial/i64 is ok, expected mismatch"

# So must one that moved: another first element.
python3 - "$seed" "$folder/copies/dispatched.json" 2>/dev/null <<'PY' || cp "$seed" "$folder/copies/dispatched.json"
import json, sys
j = json.load(open(sys.argv[1]))
j["observation"]["never_written"][0]["inner"][0] += 1
json.dump(j, open(sys.argv[2], "w"))
PY
if ! cmp -s "$seed" "$folder/copies/dispatched.json"; then
  ends 1 replay "$folder/copies"
  says "observation: never_written is"
fi

# A broken file is named, and the others run.
cp "$seed" "$folder/copies/dispatched.json"
head -c 300 "$seed" >"$folder/copies/broken.json"
ends 2 replay "$folder/copies"
grep -q "^brink: $folder/copies/broken.json: not JSON" "$folder/err" || fail "the broken file is not named"
says "1 ok, 0 failed, 1 broken, 0 not executed"
ends 2 replay "$folder/copies" --json

# What does not run is no pass.
cat >"$folder/other_path.json" <<'JSON'
{"brink_case":1,"operation":"softmax_backward","shape":[3,5],"axis":1,"dtype":"f16","implementation":"spatial/u32"}
JSON
ends 3 replay "$folder/other_path.json"
says "not executed: spatial/u32: inner_size 1 selects path last_dim"

mkdir "$folder/empty"
ends 2 replay "$folder/empty"
ends 2 replay "$folder/absent.json"

if ((failures > 0)); then exit 1; fi
