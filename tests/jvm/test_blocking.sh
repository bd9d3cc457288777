# Each way to block: right thread, object, owner, place, cause and duration (Blocking.java).
. "$ROOT/tests/jvm/traced.sh"

# The event that begins each wait, its class, its owner, and the event by which the waker ends it.
TABLE='synchronized monitor_contended_enter java.lang.Object            waker -
wait         wait_enter              java.lang.Object            -     notify
waitall      wait_enter              java.lang.Object            -     notify_all
reentrant    park_enter              ReentrantLock$NonfairSync   waker unpark
readwrite    park_enter              ReentrantReadWriteLock$NonfairSync waker unpark
stamped      park_enter              StampedLock                 -     unpark
condition    park_enter              AbstractQueuedSynchronizer$ConditionObject - unpark
semaphore    park_enter              Semaphore$NonfairSync       -     unpark
latch        park_enter              CountDownLatch$Sync         -     unpark
queue        park_enter              AbstractQueuedSynchronizer$ConditionObject - unpark
future       park_enter              CompletableFuture$Signaller -     unpark
barrier      park_enter              AbstractQueuedSynchronizer$ConditionObject - unpark
exchanger    park_enter              Exchanger                   -     unpark
park         park_enter              Blocking$Blocker            -     unpark
sleep        sleep_enter             -                           -     -
interrupt    sleep_enter             -                           -     interrupt
join         join_enter              -                           -     -'

exit_of() { # ENTER
    case $1 in
    monitor_contended_enter) echo monitor_contended_entered ;;
    *) echo "${1%_enter}_exit" ;;
    esac
}

# From the first such enter to the last such exit of the waiter: 25 of the 30 ms for which the program holds it up at least, and
# at most what the program says the whole took.
check_duration() { # KIND ENTER
    local ns
    ns=$(sed -n "s/^done $1 //p" out)
    same "$(awk -v waiter="$1-waiter" -v enter="$2" -v leave="$(exit_of "$2")" -v most="$ns" '
        $2 != waiter { next }
        $3 == enter { depth++; if (!from) from = $1 }
        $3 == leave { depth--; to = $1 }
        END {
            if (depth) print "open " depth
            else if (to - from < 0.025 || to - from > most / 1e9) print "it took " to - from
        }' all)" ""
}

# The waker ends it: its event names the waiter or the same lock, and comes before the wait's end.
check_cause() { # KIND ENTER CAUSE
    local about="target=$1-waiter"
    case $3 in
    notify*) about=$(sed -n "s/^[^ ]* $1-waiter wait_enter \(lock=[0-9]*\) .*/\1/p" all | head -n 1) ;;
    esac
    at_least "$(grep -cE "^[^ ]* $1-waker $3 $about " all)" 1 "$3 by $1-waker, $about"
    same "$(awk -v waker="$1-waker" -v waiter="$1-waiter" -v cause="$3" -v about="$about" -v leave="$(exit_of "$2")" '
        $2 == waker && $3 == cause && $4 == about && !at { at = $1 }
        $2 == waiter && $3 == leave { ended = $1 }
        END { if (at > ended) print "the cause came at " at ", the end at " ended }' all)" ""
}

check_kind() { # KIND ENTER CLASS OWNER CAUSE
    local line lines
    events -s -t "$1-waiter" -k "$2"
    lines=$(grep -c " $1-waiter $2 " events)
    at_least "$lines" 1 "$2 of $1-waiter"
    line=$(site Blocking.java "$1")
    at_least "$(matching "^    at Blocking.*\(Blocking\.java:$line\)")" 1 "line $line in the stack of $1"
    [ "$3" = - ] || at_least "$(grep -c " $1-waiter $2 .* class=[a-z.]*$(sed 's/[$.]/\\&/g' <<<"$3") " events)" 1 "class $3 of $1"
    [ "$4" = - ] || at_least "$(grep -c " owner=$1-waker " events)" 1 "owner of $1"
    check_duration "$1" "$2"
    [ "$5" = - ] || check_cause "$1" "$2" "$5"
}

check_all() { # [virtual]
    same "$(grep -c '^done ' out)" 17
    events
    cp events all
    while read -r kind enter class owner cause; do
        check_kind "$kind" "$enter" "$class" "$owner" "$cause"
    done <<<"$TABLE"
    # the other fields of a kind
    same "$(grep -cE ' semaphore-waiter semaphore_acquire_(enter|exit) ' all)" 2
    same "$(awk '$2 == "semaphore-waker" && $3 == "semaphore_release" { at = $1 }
        $2 == "semaphore-waiter" && $3 == "semaphore_acquire_exit" { ended = $1 }
        END { print (at <= ended) }' all)" 1
    same "$(grep -c ' semaphore-waker semaphore_release .* class=java.util.concurrent.Semaphore ' all)" 1
    same "$(grep -cE ' interrupt-waker interrupt target=interrupt-waiter target_in=(sleep|park)_enter ' all)" 1
    same "$(grep -c ' interrupt-waiter interrupted ' all)" 1
    same "$(grep -c ' join-waiter join_enter target=join-target ' all)" 1
    same "$(grep -cE '^[^ ]* main join_enter target=[a-z]*-(waker|waiter) ' all)" 34
    same "$(grep -cE '^[^ ]* (main|[a-z]*-waker) thread_start_called target=[a-z]*-(waker|waiter) ' all)" 34
    same "$(grep -cE '^[^ ]* [a-z]*-waiter thread_start$' all)" 17
    same "$(grep -cE '^[^ ]* [a-z]*-waiter thread_end$' all)" 17
    same "$(grep -cE '(orca\.probe|at=\?\.)' all)" 0
    same "$(grep -E ' stack=[1-9]' all | grep -c ' depth=0 ')" 0
    same "$(grep -cE ' (sleep|join|semaphore_acquire)_exit .*stack=[1-9]' all)" 0
}

# A platform thread remembers the semaphore that it acquires; a virtual one may come back elsewhere.
test_permits() {
    local kind
    for kind in platform virtual; do
        [ $kind = platform ] || [ "$JDK_MAJOR" -ge 21 ] || continue
        run_traced 0 events=threads+semaphores Permits $kind 1000
        "$ORCA" events -k semaphore_acquire_enter,semaphore_acquire_exit "$TRACE" | awk '
            $3 ~ /enter/ { lock[$2] = $4 }
            $3 ~ /exit/ { n++; other += lock[$2] != $4 }
            END { print n, "ended,", other + 0, "of them another lock" }' >ends
        same "$kind: $(cat ends)" "$kind: 16000 ended, 0 of them another lock"
    done
}

test_platform_threads() {
    run_traced 0 "" Blocking
    check_all
}

test_virtual_threads() {
    [ "$JDK_MAJOR" -ge 21 ] || skip "needs JDK 21"
    run_traced 0 events=all Blocking virtual
    check_all
}

# The JVM's own counts of each thread, at its end: waits, parks and sleeps; and contended enters, to which it adds
# the times that a thread was blocked when it took its monitor again after a wait, and now and then one
# of its own (the initialization of a class).
test_the_jvms_own_sums() {
    run_traced 0 "" Sums
    same "$(tail -n 1 out)" "main 1600"
    events
    local name blocked waited
    while read -r _ name blocked waited; do
        same "$name $(matching " $name (wait|park|sleep)_enter ")" "$name $waited"
        at_least "$waited" 30 "waits of $name"
        local enters
        enters=$(matching " $name monitor_contended_enter ")
        at_least "$blocked" "$enters" "blocked count, of $enters enters of $name"
        at_least $((enters + $(matching " $name wait_enter ") + 3)) "$blocked" "enters and waits of $name, of $blocked"
    done < <(grep '^sums ' out)
    same "$(grep -c '^sums ' out)" 4
}
