# expect.sh: what the tests of the command line share; sourced. It goes to a folder of its own that is removed at the end.
#
# In: REPLAY (build/replay), most (seconds that a run may take). Out: replay, tmp, passed, failed.
replay=$(realpath "${REPLAY:-build/replay}")
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
passed=0 failed=0
NO_COLOR=1 export NO_COLOR

# expect STATUS WORDS arguments…: the status, and words on standard error or output.
expect() {
    status=$1 words=$2
    shift 2
    timeout "$most" "$replay" "$@" >out 2>err </dev/null
    got=$?
    if [ $got = "$status" ] && { [ -z "$words" ] || grep -qF -- "$words" err out; }; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAIL: replay $*: status $got (wanted $status), wanted: $words"
        head -c 300 err
    fi
}
