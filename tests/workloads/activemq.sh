#!/bin/sh
# activemq.sh JDK_HOME OUTDIR [--short] [--plain | --recorded] [--gc=NAME]
# An ActiveMQ broker between producers and consumers.
#
# ActiveMQ's own commands send and take 4 x 10,000 messages (--short: 4 x 300) with four threads
# each, in JVMs of their own; only the broker is recorded.  Every thread must report all of its
# messages, and SIGTERM must end the broker.
set -u
# shellcheck source=tests/workloads/lib.sh
. "${0%/*}/lib.sh"
workload "$@"
groups=all

console=/usr/share/activemq/bin/activemq.jar
[ -e $console ] || skip "no $console (Debian: activemq)"
[ -e /usr/share/java/jasypt.jar ] || skip "no jasypt.jar (Debian: libjasypt-java)"
for command in pgrep nc; do
    command -v $command >/dev/null || skip "no $command (Debian: procps netcat-openbsd)"
done
messages=10000
[ $short = no ] || messages=300

cat >"$tmp/activemq" <<END
exec "$jdk/bin/java" \$JVM_OPTIONS -Dlog4j.configuration="file:$tmp/log4j.properties" \\
    -Dactivemq.home=/usr/share/activemq -Dactivemq.base="$tmp" -Dactivemq.conf="$tmp" \\
    -Dactivemq.data="$tmp" -cp "/usr/share/activemq/bin/activemq.jar:/usr/share/java/jasypt.jar" \\
    org.apache.activemq.console.Main "\$@"
END
printf '%s\n' 'log4j.rootLogger=INFO, out' 'log4j.appender.out=org.apache.log4j.ConsoleAppender' \
    'log4j.appender.out.layout=org.apache.log4j.SimpleLayout' >"$tmp/log4j.properties"
for r in $runs; do
    port=$((20000 + ($$ + $(date +%s)) % 10000))
    # shellcheck disable=SC2086 # an option or none
    start "$r" 300 env JVM_OPTIONS="$gc_option" sh "$tmp/activemq" start \
        "broker:(tcp://127.0.0.1:$port)/orca?persistent=false&useJmx=false"
    tries=0
    while [ $tries -lt 600 ] && kill -0 $child 2>/dev/null &&
        ! nc -z 127.0.0.1 $port 2>/dev/null; do
        sleep 0.1
        tries=$((tries + 1))
    done
    clients=
    for what in consumer producer; do
        timeout 200 sh "$tmp/activemq" $what --brokerUrl "tcp://127.0.0.1:$port" \
            --destination queue://work --parallelThreads 4 --messageCount $messages \
            >"$out/$r.$what" 2>&1 </dev/null &
        clients="$clients $!"
    done
    for client in $clients; do
        wait "$client" ||
            fail "$r: a client ended with exit status $?: $(tail -n 1 "$out/$r.consumer")"
    done
    # To the program itself, not to timeout: orca has to pass it on.
    kill -TERM "$(pgrep -P $child)"
    finish
    case $status in
    0 | 143) ;;
    *) fail "$r: exit status $status after SIGTERM: $(last_words "$r")" ;;
    esac
    for what in 'producer:Produced' 'consumer:Consumed'; do
        full=$(grep -c "${what#*:}: $messages messages" "$out/$r.${what%:*}")
        [ "$full" -eq 4 ] ||
            fail "$r: only $full of 4 ${what%:*} threads are complete: $out/$r.${what%:*}"
    done
done
case $runs in
*recorded*)
    check_trace 15
    check_readers
    ;;
esac
echo "$((4 * messages)) messages"
