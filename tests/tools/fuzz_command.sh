#!/usr/bin/env bash
# brink fuzz: finds and groups planted defects, resumes, stops when told to, and loses nothing to kill -9.
set -euo pipefail

brink="$1"
folder="$(mktemp -d)"

processes() { # of this test: every one has the folder in its command line
  # The pattern does not match itself in grep's own command line.
  grep -las -- "[${folder:0:1}]${folder:1}" /proc/[0-9]*/cmdline | sed 's|/proc/\([0-9]*\)/cmdline|\1|' || true
}

cleanup() {
  local pid
  for pid in $(processes); do kill -9 "$pid" 2>/dev/null || true; done
  rm -rf "$folder"
}
trap cleanup EXIT

fail() {
  printf 'FAILED: %s\n' "$1" >&2
  exit 1
}

none_left() { # WHEN: jobs and workers end with their supervisor
  local i
  for i in $(seq 50); do
    [[ -z "$(processes)" ]] && return
    sleep 0.1
  done
  fail "$1: processes are left: $(processes | tr '\n' ' ')"
}

wait_until() { # WHAT COMMAND...: generous, since only a defect should run into it
  local what="$1"
  shift
  for _ in $(seq 3000); do
    "$@" && return
    sleep 0.1
  done
  fail "$what did not come about within 300 s: $(tail -3 "$folder"/*.err "$folder"/*/jobs/*/log.txt 2>/dev/null)"
}

end_orderly() { # NAME SUPERVISOR: the status to $status
  kill -TERM "$2"
  status=0
  wait "$2" || status=$?
  none_left "$1"
}

cases_of() { # NAME: of its first job, 0 where there are none yet
  sed -n 's/.*"cases":\([0-9]*\).*/\1/p' "$folder/$1/jobs/local-job0/progress.json" 2>/dev/null | grep . || printf '0\n'
}

sessions_of() { # NAME
  sed -n 's/.*"sessions":\([0-9]*\).*/\1/p' "$folder/$1/jobs/local-job0/progress.json" 2>/dev/null | grep . || printf '0\n'
}

fuzz() { # NAME OPTION...: output to NAME.out and NAME.err, the status to $status
  local name="$1"
  shift
  status=0
  "$brink" fuzz --corpus "$folder/$name" "$@" >"$folder/$name.out" 2>"$folder/$name.err" || status=$?
}

has() { # NAME PATTERN WHAT
  grep -qE -- "$2" "$folder/$1.out" || fail "$3: no line matches '$2' in: $(cat "$folder/$1.out" "$folder/$1.err")"
}

# Planted defects: each is found, once, with its verdict; status 1.
all_planted() {
  local name
  for name in softmax_backward-spatial-u32-element_offset-mismatch '*-out_of_memory*' 'softmax_backward-spatial-i32-*-out_of_bounds'; do
    compgen -G "$folder/planted/findings/$name.json" >/dev/null || return 1
  done
}
"$brink" fuzz --corpus "$folder/planted" --jobs 1 --limit 5 --memory-limit 256MiB --op softmax_backward \
  --impl spatial/u32 --impl spatial/i32 --impl workspace >"$folder/planted.out" 2>"$folder/planted.err" &
supervisor=$!
wait_until "planted: every finding" all_planted
end_orderly planted "$supervisor"
((status == 1)) || fail "planted: status $status"
has planted '^FINDING softmax_backward spatial u32 element_offset mismatch \(' "planted"
has planted '^FINDING softmax_backward (spatial|last_dim) i(32|64) .* out_of_memory' "planted"
has planted '^FINDING softmax_backward spatial i32 .* out_of_bounds' "planted"
has planted '^corpus: [0-9]+ cases, [0-9]+ of them kept' "planted"
[[ "$(grep '^FINDING' "$folder/planted.out" | sort | uniq -d)" == "" ]] || fail "planted: a finding is there twice"

# A finding's file says how to repeat it, and that does.
finding="$(ls "$folder"/planted/findings/softmax_backward-spatial-u32-element_offset-mismatch.json)"
repeat="$(sed -n 's/^  "repeat": "brink \(.*\)"$/\1/p' "$finding")"
[[ -n "$repeat" ]] || fail "no repeat line in $finding"
status=0
# shellcheck disable=SC2086
"$brink" $repeat >"$folder/repeat.out" 2>&1 || status=$?
((status == 1)) || fail "the repeat line gives status $status: $(cat "$folder/repeat.out")"

# Without --impl brink tests itself: nothing to find.
fuzz self --time 4s --jobs 2 --seed 5
((status == 0)) || fail "self-check: status $status: $(cat "$folder/self.out" "$folder/self.err")"
has self '^OK$' "self-check"
has self '^[0-9]+ cases in .* of 2 jobs' "self-check"
first="$(sed -n 's/^\([0-9]*\) cases in .*/\1/p' "$folder/self.out")"
none_left self

# The same folder is taken up where it was left.
fuzz self --time 2s --jobs 2 --seed 5
second="$(sed -n 's/^\([0-9]*\) cases in .*/\1/p' "$folder/self.out")"
((second > first)) || fail "resumed: $first cases, then $second"

# A session that executes nothing is no pass, whatever an earlier one did; a stray file is no trouble.
: >"$folder/self/corpus/.nfs0001"
printf 'not a case' >"$folder/self/corpus/README"
fuzz self --time 1s --jobs 1 --seed 5
((status == 0)) || fail "with stray files in the corpus: status $status: $(cat "$folder/self.out" "$folder/self.err")"
has self '^not a case, left as it is: .*/corpus/README: not JSON' "stray file"
fuzz self --time 0.00001s --jobs 1 --impl spatial/u32
((status == 3)) || fail "nothing was executed: status $status instead of 3: $(cat "$folder/self.out" "$folder/self.err")"
has self '^NOT EXECUTED' "nothing was executed"
for wrong in '--impl nosuch' '--op nosuch' '--memory nosuch' '--memory-limit q'; do
  # shellcheck disable=SC2086
  fuzz self --time 0s $wrong
  ((status == 2)) || fail "--time 0s $wrong: status $status instead of 2"
done

# --time 0s runs nothing: it merges and groups.
fuzz planted --time 0s --json
((status == 1)) || fail "--time 0s: status $status"
grep -q '"cause": "softmax_backward spatial u32 element_offset mismatch"' "$folder/planted.out" || fail "--time 0s: no finding"

# SIGTERM is an orderly end, at once and after a while.
for wait_for in job0 case; do
  "$brink" fuzz --corpus "$folder/term-$wait_for" --jobs 1 --impl spatial/u32 --op softmax_backward \
    >"$folder/term-$wait_for.out" 2>"$folder/term-$wait_for.err" &
  supervisor=$!
  some_cases() { (($(cases_of "term-$wait_for") > 0)); }
  [[ $wait_for == case ]] || some_cases() { [[ -e "$folder/term-job0/jobs/local-job0" ]]; }
  wait_until "SIGTERM: the first $wait_for" some_cases
  end_orderly "SIGTERM" "$supervisor"
  # Without a case nothing was executed, which is no pass.
  [[ $status == [013] ]] || fail "SIGTERM after the first $wait_for: status $status: $(cat "$folder/term-$wait_for".*)"
  has "term-$wait_for" ' cases in ' "SIGTERM"
done
((status == 0 || status == 1)) || fail "SIGTERM: status $status: $(cat "$folder/term-case.out")"

# Two supervisors under one name do not share a folder.
"$brink" fuzz --corpus "$folder/twice" --jobs 1 >/dev/null 2>&1 &
supervisor=$!
wait_until "the first supervisor's job" test -e "$folder/twice/jobs/local-job0"
fuzz twice --time 1s
((status == 2)) || fail "a second supervisor: status $status"
grep -q 'another brink fuzz' "$folder/twice.err" || fail "a second supervisor: $(cat "$folder/twice.err")"
kill -9 "$supervisor"
wait "$supervisor" 2>/dev/null || true
none_left "a killed supervisor"

# kill -9 of supervisor, job or worker, at random moments of the start or of the work: every file is whole, and none that was
# there is gone.
whole() { # every file of the folder, as it lies there
  local file
  for file in "$folder"/killed/corpus/*.json; do
    [[ -e "$file" ]] || continue
    [[ "$(head -c 14 "$file")" == '{"brink_case":' && "$(tail -c 2 "$file")" == '}' ]] || fail "torn: $file"
  done
  for file in "$folder"/killed/jobs/*/*.json "$folder"/killed/findings/*.json; do
    [[ -e "$file" ]] || continue
    [[ "$(head -c 1 "$file")" == '{' && "$(tail -c 2 "$file")" == '}' ]] || fail "torn: $file"
  done
}
found() { # "count cause" of each finding of the job
  sed -n 's/^ *"cause": "\(.*\)",$/\1/p' "$folder"/killed/jobs/local-job0/findings.json 2>/dev/null | sort || true
}
mkdir -p "$folder/killed"
RANDOM=7
before_causes=""
before_files=""
for round in $(seq 20); do
  sessions="$(sessions_of killed)"
  "$brink" fuzz --corpus "$folder/killed" --jobs 1 --limit 5 --seed "$round" --op softmax_backward --memory-limit 256MiB \
    --impl spatial/u32 --impl last_dim/u32 --impl spatial/i32 >/dev/null 2>"$folder/killed.err" &
  supervisor=$!
  new_session() { (($(sessions_of killed) > sessions)); }
  ((round % 4 == 0)) || wait_until "round $round: a session that counts" new_session
  sleep "$((RANDOM % 2)).$((RANDOM % 10))"
  mapfile -t victims < <(processes)
  case $((round % 3)) in
    0) kill -9 "$supervisor" || fail "round $round: the supervisor had ended by itself: $(cat "$folder/killed.err")" ;;
    *) if ((${#victims[@]} > 0)); then kill -9 "${victims[RANDOM % ${#victims[@]}]}" 2>/dev/null || true; fi ;;
  esac
  sleep 0.2
  kill -9 "$supervisor" 2>/dev/null || true
  wait "$supervisor" 2>/dev/null || true
  none_left "round $round"
  whole
  missing="$(comm -23 <(printf '%s\n' "$before_causes") <(found))"
  [[ -z "$missing" ]] || fail "round $round lost findings: $missing"
  missing="$(comm -23 <(printf '%s\n' "$before_files") <(ls "$folder/killed/corpus" 2>/dev/null | grep -v unfinished || true))"
  [[ -z "$missing" ]] || fail "round $round lost corpus files: $missing"
  before_causes="$(found)"
  before_files="$(ls "$folder/killed/corpus" 2>/dev/null | grep -v unfinished || true)"
done
[[ -n "$before_causes" ]] || fail "nothing was found in 20 rounds"
(($(sessions_of killed) >= 15)) || fail "of 20 rounds only $(sessions_of killed) got to their work"
fuzz killed --time 0s
((status == 1)) || fail "after the kills: status $status: $(cat "$folder/killed.out" "$folder/killed.err")"
grep -q TROUBLE "$folder/killed.out" && fail "after the kills: $(grep TROUBLE "$folder/killed.out")"

# This check can fail: a torn file is named.
torn="$(ls "$folder"/killed/jobs/local-job0/findings.json)"
head -c 100 "$torn" >"$folder/torn" && cp "$folder/torn" "$torn"
fuzz killed --time 0s
grep -q 'TROUBLE .*findings.json: not JSON' "$folder/killed.out" || fail "a torn file is not named: $(cat "$folder/killed.out")"

printf 'ok: %s cases fuzzed, then 20 kills\n' "$second"
