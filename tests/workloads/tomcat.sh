#!/bin/sh
# tomcat.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# Tomcat 10, its examples, under load.
#
# A private Tomcat instance on a free port of 127.0.0.1 answers 32 connections for 20 s (--short:
# 4 s), after a warm-up that ends when its JSPs are compiled.
# Every answer must be a 2xx, and SIGTERM must end the server cleanly (exit status 143 or 0).
# Measures of its own: requests, requests_per_s, and of processor time ready_cpu_s (until the JSPs are
# compiled) and request_cpu_us (of a request after that).
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"

seconds=20
[ $short = no ] || seconds=4
command -v wrk >/dev/null || skip "no wrk (Debian: wrk)"
instance=${0%/*}/tomcat-instance

# Requests on 32 connections.
load() { # LOG SECONDS
    timeout $(($2 + 30)) wrk -t2 -c32 -d"$2s" --timeout 20s -s "${0%/*}/tomcat.lua" \
        "http://127.0.0.1:$port/" >"$out/$1" 2>&1 ||
        fail "$r: wrk ended with exit status $?: $(tail -n 1 "$out/$1")"
    grep -q 'Non-2xx\|Socket errors' "$out/$1" &&
        fail "$r: $(grep 'Non-2xx\|Socket errors' "$out/$1" | tr -s ' ')"
    return 0
}

answered() { # LOG
    awk '/requests in/ { n = $1 } END { print n + 0 }' "$out/$1"
}

# Tomcat compiles a JSP for its first request, and the connections that ask for one wait for that: on
# a machine under load, with each object recorded, for longer than a run.
warm_up() {
    tries=0
    while load "$r.warmup" 1 && [ "$(answered "$r.warmup")" -lt 100 ]; do
        tries=$((tries + 1))
        [ $tries -lt 120 ] || fail "$r: only $(answered "$r.warmup") requests in a second"
    done
}

# Processor time of the server so far, in ms.
server_cpu() {
    awk -v hz="$(getconf CLK_TCK)" '{ printf "%d\n", ($14 + $15) * 1000 / hz }' "/proc/$server/stat"
}

for r in $runs; do
    made=$("$instance" make "$tmp/$r") || {
        status=$?
        echo "$made"
        exit $status
    }

    # shellcheck disable=SC2086 # an option or none
    start "$r" 900 "$instance" run "$tmp/$r" "$jdk" $gc_option
    port=
    tries=0
    while [ $tries -lt 6000 ] && kill -0 $child 2>/dev/null; do
        port=$("$instance" port "$out/$r.err")
        [ -z "$port" ] || break
        sleep 0.1
        tries=$((tries + 1))
    done
    [ -n "$port" ] || fail "$r: Tomcat did not start: $(last_words "$r")"

    server=$(pgrep -f -- "-Dcatalina.base=$tmp/$r " | head -n 1)
    warm_up
    ready=$(server_cpu)
    load "$r.wrk" $seconds
    done=$(server_cpu)

    # To the program itself, not to timeout: orca has to pass it on.
    kill -TERM "$(pgrep -P $child)"
    finish
    case $status in
    0 | 143) ;;
    *) fail "$r: exit status $status after SIGTERM: $(last_words "$r")" ;;
    esac
    requests=$(answered "$r.wrk")
    # How many there are is a matter of what else the machine does.
    [ "${requests:-0}" -ge 1 ] || fail "$r: only ${requests:-no} requests"
    grep -q 'SEVERE' "$out/$r.err" && fail "$r: Tomcat complains: $(grep -m 1 SEVERE "$out/$r.err")"
    grep -q 'Destroying ProtocolHandler' "$out/$r.err" || fail "$r: Tomcat did not stop cleanly"
    measure requests "$requests"
    measure ready_cpu_s "${ready}e-3"
    measure request_cpu_us "$(((done - ready) * 1000 / requests))"
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
