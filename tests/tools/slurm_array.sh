#!/usr/bin/env bash
# Many nodes: an array of four tasks on a Slurm that this test starts and stops. One task is killed, one is queued again, the
# others end before their wall time; the merged result is the union of what the four left.
# usage: bash slurm_array.sh PATH_TO_BRINK
set -uo pipefail

brink="$(realpath "${1:?usage: slurm_array.sh PATH_TO_BRINK}")"
tools="$(cd "$(dirname "${BASH_SOURCE[0]}")/../../tools/slurm" && pwd)"
PATH="$PATH:/usr/sbin:/sbin"

skip() {
  printf 'skipped: %s\n' "$1"
  exit 77
}

for program in slurmctld slurmd sbatch scontrol sinfo munged jq ps; do
  command -v "$program" >/dev/null || skip "$program is not installed (slurmctld, slurmd, slurm-client, munge, jq)"
done
((EUID == 0)) || skip "slurmd needs root"

folder="$(mktemp -d)"
chmod 755 "$folder" # munge's socket is for everyone
export BRINK_SLURM_TEST="$folder" # in the environment of every process that comes from this test
export SLURM_CONF="$folder/slurm.conf"
daemons=()

# processes VARIABLE=VALUE: ids of those that were started with it in their environment.
processes() {
  local file
  for file in /proc/[0-9]*/environ; do
    if grep -qzFx -- "$1" "$file" 2>/dev/null; then basename "${file%/environ}"; fi
  done
}

stop_slurm() { # jobs first, while there is someone to end them
  local i
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    kill "${daemons[i]}" 2>/dev/null && wait "${daemons[i]}" 2>/dev/null
  done
  daemons=()
}

clean_up() {
  local ours
  trap - EXIT
  stop_slurm
  mapfile -t ours < <(processes "BRINK_SLURM_TEST=$folder")
  ((${#ours[@]} == 0)) || kill -9 "${ours[@]}" 2>/dev/null
  rm -rf "$folder"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

fail() {
  printf 'FAILED: %s\n' "$*"
  tail -n 15 "$folder"/*.log "$shared"/slurm/*.log 2>/dev/null | sed 's/^/  | /'
  exit 1
}

# within SECONDS COMMAND...: until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.2
  done
}

free_port() { # FIRST: the first one from there on that nothing listens on
  local port="$1"
  while (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do port=$((port + 1)); done
  printf '%d' "$port"
}

# ---- One machine that is a cluster -------------------------------------------------------------------------------------------

start_slurm() {
  local host controller_port node_port
  host="$(uname -n)" && host="${host%%.*}"
  controller_port="$(free_port $((20000 + $$ % 10000)))"
  node_port="$(free_port $((controller_port + 1)))"
  mkdir "$folder/controller" "$folder/node"
  (umask 077 && head -c 128 /dev/urandom >"$folder/munge.key")
  # Four CPUs whatever the machine has (config_overrides). A task that is queued again waits for cred_expire, 120 s by default.
  cat >"$SLURM_CONF" <<END
ClusterName=brink_test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$controller_port
SlurmdPort=$node_port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/munge.socket,cred_expire=5
StateSaveLocation=$folder/controller
SlurmdSpoolDir=$folder/node
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
PropagateResourceLimits=NONE
SchedulerParameters=bf_interval=2,sched_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
KillWait=15
NodeName=localhost NodeHostname=$host NodeAddr=127.0.0.1 CPUs=4
PartitionName=test Nodes=localhost Default=YES MaxTime=INFINITE State=UP
END
  munged --foreground --key-file="$folder/munge.key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
    --seed-file="$folder/munge.seed" --log-file="$folder/munged.log" >"$folder/munged.log" 2>&1 &
  daemons+=($!)
  within 10 test -S "$folder/munge.socket" || fail "munged did not start"
  slurmctld -D -i >"$folder/slurmctld.log" 2>&1 &
  daemons+=($!)
  slurmd -D -N localhost >"$folder/slurmd.log" 2>&1 &
  daemons+=($!)
  node_is_idle() { [[ "$(sinfo --noheader --format=%T 2>/dev/null)" == idle ]]; }
  within 30 node_is_idle || fail "the node did not become idle"
}

# ---- What must hold ----------------------------------------------------------------------------------------------------------

# differences PARTS MERGED SUMMARY: one line for each respect in which the merged folder, or the summary of its merge, is not
# the union of what the jobs in PARTS had; computed here from the jobs' own files.
differences() {
  local parts="$1" merged="$2" summary="$3" causes='group_by(.cause) | map({cause: .[0].cause, count: map(.count) | add})'
  local expected observed
  expect() { [[ "$2" == "$3" ]] || printf '%s: the parts have %s, the merge %s\n' "$1" "$2" "$3"; }
  expected="$(jq -cs "[.[].findings[]] | $causes" "$parts"/jobs/*/findings.json)"
  observed="$(jq -cs "$causes" "$merged"/findings/*.json)"
  expect "files in findings/" "$expected" "$observed"
  observed="$(jq -c '.findings | map({cause, count}) | sort_by(.cause)' "$summary")"
  expect "findings in the summary" "$expected" "$observed"
  expect "cases" "$(jq -s 'map(.cases) | add' "$parts"/jobs/*/progress.json)" "$(jq .cases "$summary")"
  expect "cells reached" "$(jq -s '[.[].cells[]] | unique | length' "$parts"/jobs/*/progress.json)" \
    "$(jq .cells.reached "$summary")"
}

# merge_copy FOLDER NAME [CHANGE...]: copies FOLDER, runs CHANGE on the copy and merges it; its summary is in NAME.json.
merge_copy() {
  local copy="$folder/$2" from="$1" name="$2"
  shift 2
  cp -a "$from" "$copy" && rm -rf "$copy"/findings/* "$copy/merge.log"
  (cd "$copy" && "$@") || fail "$name: $*"
  "$brink" fuzz --corpus "$copy" --time 0s --json >"$folder/$name.json" 2>"$folder/$name.log"
  [[ $? == 1 ]] || fail "$name: the merge of a copy did not end with status 1"
}

# features FOLDER: how many of its coverage features libFuzzer's last merge of a corpus saw.
features() { sed -n 's/.* new files with \([0-9]*\) new features added.*/\1/p' "$1/merge.log" | tail -n 1; }

job_field() { # JOB NAME
  scontrol --oneliner show job "$1" 2>/dev/null | tr ' ' '\n' | sed -n "s/^$2=//p" | head -n 1
}

ends_as() { # JOB STATE EXIT_CODE
  local state
  state="$(job_field "$1" JobState) $(job_field "$1" ExitCode)"
  [[ $state == "$2 $3" ]] || fail "job $1 is $state instead of $2 $3"
}

# ---- The array ---------------------------------------------------------------------------------------------------------------

shared="$folder/shared 100%j" # a name that a careless script or Slurm's own patterns would change
start_slurm
slurms_own="$(processes "BRINK_SLURM_TEST=$folder")"

# An installed tree, in which submit finds brink by itself. Its brink keeps what the tasks left just before it merges that.
mkdir -p "$folder/tree/bin" "$folder/tree/share/brink"
cp -a "$tools" "$folder/tree/share/brink/slurm"
cat >"$folder/tree/bin/brink" <<END
#!/usr/bin/env bash
if [[ "\$*" == *" --time 0s"* ]]; then
  cp -a "$shared" "$folder/parts"
  rm -f "$shared"/findings/*
fi
exec "$brink" "\$@"
END
chmod +x "$folder/tree/bin/brink"

# The wall time is 1 minute, Slurm's smallest. It looks for tasks to signal twice a minute.
"$folder/tree/share/brink/slurm/submit" "$shared" --tasks 4 --time=1 --host --signal=B:TERM@25 -- \
  --impl spatial/u32 --op softmax_backward --json >"$folder/submitted" 2>&1 || fail "submit: $(cat "$folder/submitted")"
array="$(sed -n 's/^array //p' "$folder/submitted")"
merge="$(sed -n 's/^merge //p' "$folder/submitted")"
[[ $array =~ ^[0-9]+$ && $merge =~ ^[0-9]+$ ]] || fail "submit printed no job ids: $(cat "$folder/submitted")"

# failing_cases TASK: how many it has found so far.
failing_cases() { cat "$shared/jobs/slurm-$array-$1-"*/findings.json 2>/dev/null | jq -s '[.[].findings[].count] | add // 0'; }
cases_run() { cat "$shared/jobs/slurm-$array-$1-"*/progress.json 2>/dev/null | jq -s 'map(.cases) | add // 0'; }
all_have_findings() {
  local task
  for task in 0 1 2 3; do
    # Findings are written at once, progress now and then.
    [[ "$(failing_cases "$task")" -gt 0 && "$(cases_run "$task")" -gt 0 ]] || return 1
  done
}
within 60 all_have_findings || fail "not every task has found something"

mapfile -t victims < <(comm -12 <(processes "SLURM_ARRAY_JOB_ID=$array" | sort) <(processes "SLURM_ARRAY_TASK_ID=1" | sort))
((${#victims[@]} >= 2)) || fail "task 1 has no processes to kill"
kill -9 "${victims[@]}" || fail "task 1 ended before it was killed"
scontrol requeue "${array}_2" || fail "task 2 could not be queued again"
before_requeue="$(failing_cases 2)"

merge_is_over() { [[ "$(job_field "$merge" JobState)" =~ ^(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)$ ]]; }
within 150 merge_is_over || fail "the merge job did not end: $(scontrol show job "$merge")"

# ---- What happened to the tasks ----------------------------------------------------------------------------------------------

for task in 0 2 3; do
  ends_as "${array}_$task" COMPLETED 0:0
  [[ "$(cat "$shared/slurm/slurm-$array-$task.status")" == 1 ]] || fail "task $task does not say that brink ended with findings"
done
ends_as "${array}_1" FAILED 0:9
ends_as "$merge" FAILED 1:0
[[ ! -e "$shared/slurm/slurm-$array-1.status" ]] || fail "task 1 was killed and says that it came to its end"
merge_log="$shared/slurm/merge-$merge.log"
grep -q '^task 1: status none' "$merge_log" || fail "the merge job does not say that task 1 was ended"
grep -q '^3 of 4 tasks got to their end$' "$merge_log" || fail "the merge job does not count the tasks"
if grep -l 'DUE TO TIME LIMIT' "$shared"/slurm/*.log; then fail "a task ran into its wall time"; fi

[[ "$(job_field "${array}_2" Restarts)" == 1 ]] || fail "task 2 was not started again"
sessions="$(jq -cs 'map(.sessions)' "$folder/parts/jobs/slurm-$array-"*/progress.json)"
[[ $sessions == '[1,1,2,1]' ]] || fail "sessions of the four jobs: $sessions instead of [1,1,2,1]"
after_requeue="$(failing_cases 2)"
((after_requeue >= before_requeue)) || fail "task 2 had $before_requeue failing cases when it was queued again, then $after_requeue"
seeds="$(cat "$folder/parts/jobs/"*/log.txt | sed -n 's/^INFO: Seed: //p' | sort -u | wc -l)"
((seeds == 5)) || fail "five sessions had $seeds different seeds"

only_slurm_is_left() {
  left="$(processes "BRINK_SLURM_TEST=$folder")"
  left="$(grep -vxF "$slurms_own" <<<"$left")"
  [[ -z $left ]]
}
within 5 only_slurm_is_left || fail "processes are left behind: $(ps -o pid=,args= -p "${left//$'\n'/,}")"

# ---- The merged result is the union ------------------------------------------------------------------------------------------

sed -n '/^{/,/^}/p' "$merge_log" >"$folder/merge.json"
[[ -z "$(differences "$folder/parts" "$shared" "$folder/merge.json")" ]] ||
  fail "merged is not the union: $(differences "$folder/parts" "$shared" "$folder/merge.json")"

# Slurm's signals, which reach every process of a task that is queued again, are not taken for what a kernel did.
unexpected="$(jq -c '[.findings[].cause | select(endswith("not as predicted"))]' "$folder/merge.json")"
[[ $unexpected == '[]' ]] || fail "findings that no prediction explains: $unexpected"

ls "$folder/parts/corpus" >"$folder/corpus.parts"
ls "$shared/corpus" >"$folder/corpus.merged"
[[ -s $folder/corpus.merged ]] || fail "the merged corpus is empty"
[[ -z "$(comm -13 "$folder/corpus.parts" "$folder/corpus.merged")" ]] || fail "the merge invented cases"
merge_copy "$shared" again true
[[ "$(features "$shared")" -gt 0 ]] || fail "libFuzzer's merge did not say what it kept"
[[ "$(features "$folder/again")" == "$(features "$shared")" ]] ||
  fail "the parts' corpus has $(features "$shared") features, the merged one $(features "$folder/again")"

# ---- These checks can fail ---------------------------------------------------------------------------------------------------

merge_copy "$folder/parts" without_findings rm -r "jobs/slurm-$array-3-job0/findings.json"
differences "$folder/parts" "$folder/without_findings" "$folder/without_findings.json" >"$folder/reported"
[[ "$(cut -d: -f1 "$folder/reported")" == $'files in findings/\nfindings in the summary' ]] ||
  fail "the findings of task 3 are missing, and what is reported is: $(cat "$folder/reported")"
merge_copy "$folder/parts" without_progress rm -r "jobs/slurm-$array-1-job0/progress.json"
differences "$folder/parts" "$folder/without_progress" "$folder/without_progress.json" >"$folder/reported"
grep -q '^cases: ' "$folder/reported" || fail "the cases of task 1 are missing, and that is not reported"
# Not each case that a greedy merge keeps is needed in the end, but half of them are not enough.
half=$(($(wc -l <"$folder/corpus.merged") / 2))
mapfile -t dropped < <(head -n "$((half > 0 ? half : 1))" "$folder/corpus.merged" | sed 's|^|corpus/|')
merge_copy "$shared" less_corpus rm "${dropped[@]}"
(("$(features "$folder/less_corpus")" < "$(features "$shared")")) || fail "half of the corpus has as many features as all of it"

stop_slurm
left="$(processes "BRINK_SLURM_TEST=$folder")"
[[ -z $left ]] || fail "Slurm's own processes are left behind: $left"
printf 'four tasks, %s failing cases in %s causes, corpus %d -> %d\n' "$(jq '[.findings[].count] | add' "$folder/merge.json")" \
  "$(jq '.findings | length' "$folder/merge.json")" "$(wc -l <"$folder/corpus.parts")" "$(wc -l <"$folder/corpus.merged")"
