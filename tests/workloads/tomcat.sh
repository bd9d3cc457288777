#!/bin/sh
# tomcat.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Tomcat 10, its examples, under load.
#
# A private Tomcat instance on a free port of 127.0.0.1 answers 32 connections for 20 s (--short:
# 4 s), after 1 s of warm-up.
# Every answer must be a 2xx, and SIGTERM must end the server cleanly (exit status 143 or 0).
# Measures of its own: requests, requests_per_s.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"

seconds=20
[ $short = no ] || seconds=4
command -v wrk >/dev/null || skip "no wrk (Debian: wrk)"
instance=${0%/*}/tomcat-instance

# Requests on 32 connections; the first, for which Tomcat compiles its JSPs, are a run of their own.
load() { # LOG SECONDS
    timeout $(($2 + 30)) wrk -t2 -c32 -d"$2s" --timeout 20s -s "${0%/*}/tomcat.lua" \
        "http://127.0.0.1:$port/" >"$out/$1" 2>&1 ||
        fail "$r: wrk ended with exit status $?: $(tail -n 1 "$out/$1")"
    grep -q 'Non-2xx\|Socket errors' "$out/$1" &&
        fail "$r: $(grep 'Non-2xx\|Socket errors' "$out/$1" | tr -s ' ')"
    return 0
}

for r in $runs; do
    made=$("$instance" make "$tmp/$r") || {
        status=$?
        echo "$made"
        exit $status
    }

    # shellcheck disable=SC2086 # an option or none
    start "$r" $((seconds + 120)) "$instance" run "$tmp/$r" "$jdk" $gc_option
    port=
    tries=0
    while [ $tries -lt 300 ] && kill -0 $child 2>/dev/null; do
        port=$("$instance" port "$out/$r.err")
        [ -z "$port" ] || break
        sleep 0.1
        tries=$((tries + 1))
    done
    [ -n "$port" ] || fail "$r: Tomcat did not start: $(last_words "$r")"

    load "$r.warmup" 1
    load "$r.wrk" $seconds

    # To the program itself, not to timeout: orca has to pass it on.
    kill -TERM "$(pgrep -P $child)"
    finish
    case $status in
    0 | 143) ;;
    *) fail "$r: exit status $status after SIGTERM: $(last_words "$r")" ;;
    esac
    requests=$(awk '/requests in/ { print $1 }' "$out/$r.wrk")
    # How many there are is a matter of what else the machine does.
    [ "${requests:-0}" -ge 1 ] || fail "$r: only ${requests:-no} requests"
    grep -q 'SEVERE' "$out/$r.err" && fail "$r: Tomcat complains: $(grep -m 1 SEVERE "$out/$r.err")"
    grep -q 'Destroying ProtocolHandler' "$out/$r.err" || fail "$r: Tomcat did not stop cleanly"
    measure requests "$requests"
    measure requests_per_s "$(awk '/^Requests\/sec/ { print $2 }' "$out/$r.wrk")"
done

case $runs in
*recorded*)
    check_trace 20
    [ -n "$given" ] || [ "$(trace_number monitor_contended_enter)" -gt 0 ] ||
        fail "no contended monitor in the trace: $out/info.txt"
    ;;
esac
echo "$requests requests"
