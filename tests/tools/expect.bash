# Sourced by tests that run brink and go on after a failure; they end with status 1 if $failures is not 0.
# shellcheck shell=bash disable=SC2034,SC2154
# $brink is the command, $folder a temporary folder.

failures=0

fail() {
  printf 'FAILED: %s\n' "$*"
  failures=$((failures + 1))
}

# ends STATUS ARGUMENT...: output is left in $folder/out and $folder/err.
ends() {
  local expected="$1" status=0
  shift
  "$brink" "$@" >"$folder/out" 2>"$folder/err" || status=$?
  [[ $status == "$expected" ]] || fail "brink $*: status $status instead of $expected: $(cat "$folder/out" "$folder/err" | tail -5)"
}

says() { grep -qF -- "$1" "$folder/out" || fail "the output does not say \"$1\""; }
