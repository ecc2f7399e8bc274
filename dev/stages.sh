# SPDX-License-Identifier: Apache-2.0
# Stages of a long run, for .ci/run and dev/nightly: each has a limit, a log, and a line in the table of times at the end.

mkdir -p .build
stages=()

# Begins a stage.
step() {
    stages+=("$SECONDS $1")
    printf '\n=== %s (%s s)\n' "$1" "$SECONDS"
}

# Runs a command that has to end within some seconds; its output goes to a log, of which the last line is shown.
#   logged LOG SECONDS COMMAND [ARGUMENT…]
logged() {
    local log=".build/$1.log" seconds=$2
    shift 2
    dev/within "$seconds" "$@" >"$log" 2>&1 || failed "$log"
    grep 'Test run with' "$log" | tail -n 1 || tail -n 1 "$log"
}

# How long each stage took.
stage_times() {
    local index next
    printf '\n=== the time of each stage\n'
    for index in "${!stages[@]}"; do
        next=${stages[index + 1]:-$SECONDS}
        printf '%5d s  %s\n' "$((${next%% *} - ${stages[index]%% *}))" "${stages[index]#* }"
    done
    printf '%5d s  in all\n' "$SECONDS"
}

# The tests of a log that began and did not end, where the whole run did not.
unfinished_tests() {
    ! grep -q 'Test run with' "$1" || return 0
    # Of a test with arguments only itself, not each of them. A line begins with a sign of more than one byte.
    comm -23 <(grep -vE 'Test (case passing|run) ' "$1" | sed -nE 's/^[^ ]+ Test (.*) started\.$/\1/p' | sort) \
        <(sed -nE 's/^[^ ]+ Test (.*) (passed|failed|skipped) after .*/\1/p' "$1" | sed -E 's/ with [0-9]+ test cases?$//' | sort) |
        sed -n '1,60s/^/began and did not end: /p'
}

# Shows what went wrong in a log, then its end; and ends this run.
failed() {
    printf '\n--- failed: %s\n' "$1"
    # What hung, and where its threads are.
    grep -A 400 'This does not end within' "$1" | grep -v '^$' | head -n 400 || true
    unfinished_tests "$1" || true
    grep -A 60 -E '(WARNING|FATAL|ERROR): \w+Sanitizer|CHECK failed' "$1" | head -n 120 || true
    grep -B 3 'Nothing else can end this test function' "$1" | head -n 20 || true
    grep -A 60 'Program crashed' "$1" | head -n 120 || true
    grep -A 5 '^✘' "$1" | cut -c1-1000 | head -n 100 || true
    # Errors of the compiler and of programs, not tests whose names have the word.
    grep -E -A 5 '(^|: )error:' "$1" | grep -v '^[✔◇]' | cut -c1-1000 | head -n 100 || true
    # Failures of Python's unittest.
    grep -E -A 30 '^(ERROR|FAIL): ' "$1" | head -n 120 || true
    printf -- '--- its end\n'
    tail -n 30 "$1"
    exit 1
}
