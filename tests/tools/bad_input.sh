#!/usr/bin/env bash
# Bad input ends with exit status 2 and one line on standard error that names what is wrong and where.
# usage: bash bad_input.sh PATH_TO_BRINK
set -uo pipefail

brink="${1:?usage: bad_input.sh PATH_TO_BRINK}"
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
failures=0

# rejects TEXT ARGUMENT...: brink ARGUMENT... must fail so, with TEXT in its line.
rejects() {
  local text="$1" status=0 lines
  shift
  "$brink" "$@" >"$folder/out" 2>"$folder/err" || status=$?
  lines="$(wc -l <"$folder/err")"
  if [[ $status != 2 || $lines != 1 || -s $folder/out ]] || ! grep -qF -- "$text" "$folder/err"; then
    printf 'FAILED: brink %s\n  expected status 2 and one line with "%s"; status %s, standard error:\n' "$*" "$text" "$status"
    sed 's/^/  | /' "$folder/err"
    failures=$((failures + 1))
  fi
}

seed=(--op softmax_backward --shape "1,2,2147483649" --axis 1)

rejects "unknown device model \"sm_1\"" launch "${seed[@]}" --device-model sm_1
rejects "registers" launch "${seed[@]}" --device-model sm_90 --registers 0
rejects "registers" launch "${seed[@]}" --registers 40
rejects "shape" launch --impl spatial/u32
rejects "axis 3 is out of range" launch --shape "1,2,3" --axis 3
rejects "sofmax" launch "${seed[@]:2}" --op sofmax
rejects "gpu" launch "${seed[@]}" --device gpu

for command in run predict; do
  rejects "negative size -2" "$command" --shape "1,-2,3" --axis 1
  rejects "overflows int64" "$command" --shape "4294967296,4294967296,4294967296" --axis 1
  rejects "axis 3 is out of range" "$command" --shape "1,2,3" --axis 3
  rejects "axis -4 is out of range" "$command" --shape "1,2,3" --axis -4
  rejects "axis" "$command" --shape "1,2,3" --axis one
  rejects "axis" "$command" --shape "1,2,3" --axis 9223372036854775808
  rejects "sofmax" "$command" "${seed[@]:2}" --op sofmax
  rejects "spatial/u33" "$command" "${seed[@]}" --impl spatial/u33
  rejects "f8" "$command" "${seed[@]}" --dtype f8
  rejects "gpu" "$command" "${seed[@]}" --device gpu
  rejects "virtual" "$command" "${seed[@]}" --memory virtual
  rejects "uniform" "$command" "${seed[@]}" --form uniform
  rejects "coded_output" "$command" "${seed[@]}" --form coded_output
  rejects "prime 4" "$command" "${seed[@]}" --prime 4
  rejects "--seed" "$command" "${seed[@]}" --seed x
  rejects "--seed" "$command" "${seed[@]}" --seed -1
  rejects "--shape" "$command" --axis 1
  rejects "--shape" "$command" --shape "" --axis 1
  rejects "--shape" "$command" --shape
  rejects "garbage" "$command" --shape garbage --axis 0
  rejects "1x2x3" "$command" --shape 1x2x3 --axis 0
  rejects "--shape 1,,3" "$command" --shape 1,,3 --axis 0
  rejects "--shape 1,2," "$command" --shape 1,2, --axis 0
  rejects "1.5" "$command" --shape 1,1.5 --axis 0
  rejects "9223372036854775808" "$command" --shape 1,9223372036854775808 --axis 0
  rejects "99999999999999999999999" "$command" --shape 99999999999999999999999 --axis 0
  rejects "$folder/absent.json" "$command" "$folder/absent.json"
  rejects "$folder" "$command" "$folder"
  rejects "--no-such-option" "$command" "${seed[@]}" --no-such-option
done
rejects "limit" run "${seed[@]}" --limit 0
rejects "limit" run "${seed[@]}" --limit soon
rejects "limit" run "${seed[@]}" --limit nan

# Broken case files: the line names the file and the field.
case_file="$folder/case.json"
good='{"brink_case":1,"operation":"softmax_backward","shape":[1,2,9],"axis":1,"dtype":"f16","implementation":"spatial/u32"}'
broken() { # TEXT SED-EXPRESSION: the good case, changed
  sed "$2" <<<"$good" >"$case_file"
  rejects "$1" run "$case_file"
  rejects "$case_file" run "$case_file"
}
broken "not JSON" 's/,/;/'
broken "not JSON" 's/}//'
broken "version 2" 's/"brink_case":1/"brink_case":2/'
broken '"brink_case"' 's/"brink_case":1,//'
broken '"axis"' 's/"axis":1,//'
broken '"axis"' 's/"axis":1/"axis":"1"/'
broken '"shpae"' 's/"shape"/"shpae"/'
broken '"shape"' 's/\[1,2,9\]/[1,2,9223372036854775808]/'
broken '"shape"' 's/\[1,2,9\]/[1,2.0,9]/'
broken "negative size -2" 's/\[1,2,9\]/[1,-2,9]/'
broken "axis 5" 's/"axis":1/"axis":5/'
broken '"implementation"' 's/spatial\/u32/spatial\/u33/'
broken '"operation"' 's/softmax_backward/sofmax/'
broken "coded_output" 's/"axis"/"closed_form":"coded_output","axis"/'
: >"$case_file"
rejects "not JSON" run "$case_file"
head -c 4096 /dev/urandom >"$case_file"
rejects "$case_file" run "$case_file"

rejects "soon" check --cases 1 --time soon
rejects "10d" check --cases 1 --time 10d
rejects "-5" check --cases 1 --time=-5
rejects "0s" check --cases 1 --time 0s
rejects "nan" check --cases 1 --time nan
rejects "inf" check --cases 1 --time inf
rejects "cases" check --cases 0
rejects "cases" check --cases -1
rejects "cases" check --cases many
rejects "seed" check --cases 1 --seed -1
rejects "sofmax" check --cases 1 --op sofmax
rejects "spatial/u33" check --cases 1 --impl spatial/u33
rejects "gpu" check --cases 1 --device gpu
rejects "virtual" check --cases 1 --memory virtual
rejects "--memory lots" plan --memory lots
rejects "--memory 0" plan --memory 0
rejects "--time soon" plan --time soon
rejects "gpu" plan --device gpu
rejects "$folder/absent" plan --memory 1KiB -o "$folder/absent/plan"
rejects "$folder/absent.plan" check --plan "$folder/absent.plan"
rejects "$case_file: line 1: " check --plan "$case_file"
rejects "--plan" check --plan --impl dispatched
rejects "$folder/absent.json" audit "$folder/absent.json"
rejects "file" audit
rejects "spatial/u33" audit "$case_file" --impl spatial/u33
rejects "--device-memory much" audit "$case_file" --device-memory much
rejects "gpu" list cells --device gpu
rejects "subcommand" list
rejects "chek" chek
rejects "subcommand"

if ((failures > 0)); then
  printf '%d of the inputs were not rejected as they should be\n' "$failures"
  exit 1
fi
