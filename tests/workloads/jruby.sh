#!/bin/sh
# jruby.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# JRuby's web server, a new thread for each connection.
#
# ab asks 6,000 times (--short: 100) over 16 connections; no request may fail, every answer has the
# same length, the server counts as many, and SIGTERM ends it in good order.
# Measures of its own: requests.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

for command in ab pgrep; do
    command -v $command >/dev/null || skip "no $command (Debian: apache2-utils procps)"
done
lib=/usr/share/jruby/lib
[ -e $lib/jruby.jar ] || skip "no $lib/jruby.jar (Debian: jruby)"
requests=6000
[ $short = no ] || requests=100
for r in $runs; do
    # shellcheck disable=SC2086 # an option or none
    start "$r" 300 "$jdk/bin/java" $gc_option -Xss2048k \
        --add-opens=java.base/java.io=ALL-UNNAMED \
        --add-opens=java.base/sun.nio.ch=ALL-UNNAMED \
        -cp "$lib/jruby.jar" -Djruby.home=/usr/share/jruby -Djruby.lib=$lib \
        -Djruby.script=jruby org.jruby.Main "$here/programs/httpd.rb"
    port=
    tries=0
    while [ $tries -lt 600 ] && kill -0 $child 2>/dev/null; do
        port=$(sed -n 's/^port //p' "$out/$r.out")
        [ -z "$port" ] || break
        sleep 0.1
        tries=$((tries + 1))
    done
    [ -n "$port" ] || fail "$r: the server did not start: $(last_words "$r")"
    timeout 120 ab -q -n $requests -c 16 "http://127.0.0.1:$port/work" >"$out/$r.ab" 2>&1 ||
        fail "$r: ab ended with exit status $?: $(tail -n 1 "$out/$r.ab")"
    # To the program itself, not to timeout: orca has to pass it on.
    kill -TERM "$(pgrep -P $child)"
    finish
    [ "$status" -eq 0 ] || fail "$r: exit status $status after SIGTERM: $(last_words "$r")"
    for want in "Complete requests: *$requests" 'Failed requests: *0' \
        'Document Length: *64 bytes'; do
        grep -q "^$want\$" "$out/$r.ab" || fail "$r: not '$want': $out/$r.ab"
    done
    grep -q Non-2xx "$out/$r.ab" && fail "$r: $(grep Non-2xx "$out/$r.ab")"
    served=$(sed -n 's/^served //p' "$out/$r.out")
    # ab may connect once more than it asks.
    [ "${served:-0}" -ge $requests ] && [ "$served" -le $((requests + 16)) ] ||
        fail "$r: the server counted ${served:-nothing} of $requests requests"
    measure requests $requests
done
case $runs in
*recorded*)
    check_trace $((requests + 4))
    check_readers
    ;;
esac
echo "$requests requests"
