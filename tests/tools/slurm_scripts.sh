#!/usr/bin/env bash
# What tools/slurm/ asks of Slurm and of brink, and what it makes of their answers; without either of them. slurm_array.sh runs
# the same scripts on a real Slurm.
# usage: bash slurm_scripts.sh PATH_TO_BRINK [FOLDER_OF_THE_SCRIPTS]
set -uo pipefail

tools="${2:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tools/slurm" && pwd)}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
shared="$folder/results 100%"
failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# runs STATUS COMMAND...: standard output is left in $folder/out.
runs() {
  local expected="$1" status=0
  shift
  "$@" >"$folder/out" 2>"$folder/err" || status=$?
  [[ $status == "$expected" ]] || fail "$*: status $status instead of $expected: $(head -3 "$folder/err")"
}

# says FILE LINE: is one of its lines.
says() { grep -qxF -- "$2" "$folder/$1" || fail "no line \"$2\" in $1: $(cat "$folder/$1")"; }

# A brink that writes its arguments and ends with the status in the file brink.status; at SIGTERM, where that says "wait".
mkdir "$folder/bin"
cat >"$folder/bin/brink" <<END
#!/usr/bin/env bash
printf '%s\n' "\$@" >"$folder/brink.arguments"
status="\$(cat "$folder/brink.status")"
[[ \$status == wait ]] || exit "\$status"
trap 'printf "term\n" >>"$folder/brink.terms"' TERM
touch "$folder/brink.waits"
for ((i = 0; i < 100; ++i)); do
  [[ ! -s "$folder/brink.terms" ]] || break
  sleep 0.05
done
sleep 0.3
exit 1
END
# An sbatch that writes its arguments and gives the ids 11;cluster, 12;cluster; it refuses jobs with --refuse=array or =merge.
cat >"$folder/bin/sbatch" <<END
#!/usr/bin/env bash
job=array
[[ "\$*" != *--dependency* ]] || job=merge
printf '%s\n' "\$@" >"$folder/sbatch.\$job"
[[ "\$*" != *"--refuse=\$job"* ]] || { printf 'sbatch: no\n' >&2 && exit 1; }
[[ \$job == array ]] && printf '11;cluster\n' || printf '12;cluster\n'
END
cat >"$folder/bin/scancel" <<END
#!/usr/bin/env bash
printf '%s\n' "\$@" >"$folder/cancelled"
END
chmod +x "$folder/bin/"*
PATH="$folder/bin:$PATH"

# ---- submit ------------------------------------------------------------------------------------------------------------------

# rejects TEXT ARGUMENT...: with status 2 and one line that has TEXT in it.
rejects() {
  local text="$1"
  shift
  runs 2 "$tools/submit" "$@"
  [[ "$(wc -l <"$folder/err")" == 1 && ! -s $folder/out ]] || fail "submit $*: not one line on standard error"
  grep -qF -- "$text" "$folder/err" || fail "submit $*: no \"$text\" in: $(cat "$folder/err")"
}
rejects "no folder"
rejects "--tasks 0" "$shared" --tasks 0
rejects "--tasks four" "$shared" --tasks=four
rejects "--tasks" "$shared" --tasks
rejects "gpu" "$shared" --brink "$folder/bin/brink" --partition gpu
rejects "$folder/absent" "$shared" --brink "$folder/absent"
rejects "--time" "$shared" --brink "$folder/bin/brink" -- --time 8h
rejects "--node" "$shared" --brink "$folder/bin/brink" -- --node=me
runs 0 "$tools/submit" --help
[[ ! -e $folder/sbatch.array ]] || fail "bad input was submitted"

runs 0 "$tools/submit" "$shared" --tasks 64 --time=1-0 --partition=gpu --brink "$folder/bin/brink" -- --impl "spatial/u32"
[[ "$(cat "$folder/out")" == $'array 11\nmerge 12' ]] || fail "submit printed: $(cat "$folder/out")"
for argument in --array=0-63 --time=1-0 --gres=gpu:1 --partition=gpu "--output=$folder/results 100%%/slurm/fuzz-%A-%a.log" \
  "$folder/bin/brink" "$shared" gpu --impl spatial/u32; do
  says sbatch.array "$argument"
done
for argument in --dependency=afterany:11 --partition=gpu "--output=$folder/results 100%%/slurm/merge-%j.log" \
  "$folder/bin/brink" "$shared" gpu 11 64 --impl spatial/u32; do
  says sbatch.merge "$argument"
done
runs 0 "$tools/submit" "$shared" --host --brink "$folder/bin/brink"
if grep -q gres "$folder/sbatch.array"; then fail "--host asks for a GPU"; fi

runs 2 "$tools/submit" "$shared" --brink "$folder/bin/brink" --refuse=array
[[ ! -e $folder/cancelled ]] || fail "what was not submitted is cancelled"
runs 2 "$tools/submit" "$shared" --brink "$folder/bin/brink" --refuse=merge
says cancelled 11

# ---- A task ------------------------------------------------------------------------------------------------------------------

task=(env SLURM_ARRAY_JOB_ID=11 SLURM_ARRAY_TASK_ID=3 SLURM_CPUS_ON_NODE=5 bash "$tools/brink-fuzz.sbatch" "$folder/bin/brink"
  "$shared")
ended="$shared/slurm/slurm-11-3.status"
for statuses in "0 0" "1 0" "2 2" "3 3"; do
  read -r of_brink of_task <<<"$statuses"
  printf '%s' "$of_brink" >"$folder/brink.status"
  runs "$of_task" "${task[@]}" gpu --seed 4
  [[ "$(cat "$ended")" == "$of_brink" ]] || fail "the task says that brink's status is $(cat "$ended") instead of $of_brink"
done
tr '\n' ' ' <"$folder/brink.arguments" >"$folder/words"
[[ "$(cat "$folder/words")" == "fuzz --corpus $shared --node slurm-11-3 --gpus all --seed 4 " ]] || fail "brink $(cat "$folder/words")"
runs 3 "${task[@]}" host --seed 4
tr '\n' ' ' <"$folder/brink.arguments" >"$folder/words"
[[ "$(cat "$folder/words")" == "fuzz --corpus $shared --node slurm-11-3 --jobs 5 --seed 4 " ]] || fail "brink $(cat "$folder/words")"

# SIGTERM to the batch shell alone, as before the wall time, reaches brink, and the shell waits for what brink says.
printf wait >"$folder/brink.status"
"${task[@]}" gpu >"$folder/out" 2>&1 &
batch=$!
for ((i = 0; i < 200; ++i)); do
  [[ ! -e $folder/brink.waits ]] || break
  sleep 0.05
done
[[ ! -e $ended ]] || fail "a task that runs says that it came to its end"
kill -TERM "$batch"
status=0
wait "$batch" || status=$?
[[ $status == 0 ]] || fail "a task that was told to end: status $status instead of 0"
[[ -s $folder/brink.terms && "$(cat "$ended")" == 1 ]] || fail "brink was not told to end, or nobody waited for it"

# ---- The merge job -----------------------------------------------------------------------------------------------------------

merge() { # STATUS_OF_BRINK STATUS_OF_JOB TASK_STATUS...: a - for a task that left none
  local of_brink="$1" of_job="$2" number=0 status
  shift 2
  rm -f "$shared"/slurm/*.status
  for status in "$@"; do
    [[ $status == - ]] || printf '%s\n' "$status" >"$shared/slurm/slurm-11-$number.status"
    number=$((number + 1))
  done
  printf '%s' "$of_brink" >"$folder/brink.status"
  runs "$of_job" bash "$tools/brink-merge.sbatch" "$folder/bin/brink" "$shared" host 11 "$#" --seed 4
}
merge 0 0 0 0 0
says out "3 of 3 tasks got to their end"
tr '\n' ' ' <"$folder/brink.arguments" >"$folder/words"
[[ "$(cat "$folder/words")" == "fuzz --corpus $shared --time 0s --seed 4 " ]] || fail "brink $(cat "$folder/words")"
merge 1 1 0 1 1
merge 0 3 0 - 0
says out "task 1: status none: something else ended it, or it never began; see $shared/slurm/fuzz-11-1.log"
says out "2 of 3 tasks got to their end"
merge 0 3 0 0 3
merge 1 1 2 1 -
merge 2 2 0 0 0

# ---- These checks can fail ---------------------------------------------------------------------------------------------------

if (($# < 2)); then
  # Each of these breaks one of the scripts.
  # shellcheck disable=SC2016
  broken=('s/ != 1)) || status=0/ != 9)) || status=0/' "s/^trap 'kill.*/trap : TERM/" 's/^rm -f .*ended.*/:/'
    's/^while kill -0/while false \&\& kill -0/' 's/(--gpus all) ;;/(--gpus 0) ;;/'
    's/unfinished == 0)) || status=3/unfinished == 0)) || status=0/' 's/afterany/afterok/' 's/scancel "$array"/:/'
    's/gpu=(--gres=gpu:1)/gpu=()/' 's|${folder//%/%%}|$folder|')
  runs=()
  for i in "${!broken[@]}"; do
    cp -a "$tools" "$folder/broken$i"
    sed -i "${broken[i]}" "$folder/broken$i/"*
    if diff -rq "$tools" "$folder/broken$i" >/dev/null; then fail "${broken[i]}: changes nothing"; fi
    bash "${BASH_SOURCE[0]}" "$1" "$folder/broken$i" >/dev/null 2>&1 &
    runs+=($!)
  done
  for i in "${!broken[@]}"; do
    status=0
    wait "${runs[i]}" || status=$?
    [[ $status == 1 ]] || fail "${broken[i]}: status $status instead of 1"
  done
fi

if ((failures > 0)); then exit 1; fi
