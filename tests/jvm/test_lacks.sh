# A JVM that does not describe what Orca reads of it: a debug build of the agent does as if one fact was missing.  The program
# runs on, and what is lost is said on stderr, at the report's head, where it was asked for, and by doctor.
# timeout: 180
. "$ROOT/tests/jvm/traced.sh"

build_checked

without() { # TYPE::FIELD OPTIONS
    echo "without $1"
    rm -f "$TRACE"
    ORCA_HIDE=$1 AGENT=$CHECKED run 0 traced "$2" -Xmx64m Owners 2 0
    cp err said
    run 0 "$ORCA" report "$TRACE"
    cp out report
    grep '^LACKING' report >lacking
}

test_owners() {
    local fact
    for fact in JavaThread::_current_pending_monitor ObjectMonitor::_owner; do
        without $fact ""
        has said "owners of monitors cannot be read on this JVM"
        has lacking "owners of monitors cannot be read on this JVM"
        events -k monitor_contended_enter
        [ "$(matching ' monitor_contended_enter ')" -gt 0 ] || fail "no contention"
        same "$(matching ' owner=[^?]')" 0
    done
}

# Whatever the walker needs; samples need it.
test_stacks() {
    local fact
    for fact in $(some 2 Method::_constMethod CodeCache::_heaps CodeBlob::_name JavaThread::_anchor nmethod::_scopes_pcs_offset); do
        without $fact cpu=10ms
        has said "stacks are taken through JVMTI"
        has said "processor time and wall clock are not sampled"
        has lacking "stacks are taken through JVMTI"
        events
        same "$(matching ' cpu_sample ')" 0
        [ "$(matching ' at=Owners')" -gt 0 ] || fail "no stack of the program"
        run 0 "$ORCA" report --hot "$TRACE"
        grep -q '^There are no samples: .*this JVM' out || fail "$(cat out)"
    done
}

# Nothing is missing: no message.
test_nothing() {
    without nothing ""
    same "$(cat lacking)" ""
    lacks said LACKING
    lacks said "this JVM"
}

test_doctor() {
    start_lacking
    run 0 "$ORCA" doctor "$jvm"
    has out "owners of monitors cannot be read on this JVM"
    end_with KILL 137
}
start_lacking() {
    export ORCA_HIDE=ObjectMonitor::_owner
    AGENT=$CHECKED start_traced "" -Xmx64m AttachIdle
    unset ORCA_HIDE
    wait_for 60 "$ORCA" query "$jvm" locks
}

# Where a jmethodID is a number (26 and later; here as if), its Method is found through its class: nothing is lost, unless the
# class does not say either.
numbers() { # FACT... that are missing, too
    local hidden=jmethodID::address fact
    for fact; do hidden+=,$fact; done
    without "$hidden" ""
    events
}
test_numbers() {
    numbers
    same "$(cat lacking)" ""
    [ "$(matching ' park_enter ')" -gt 0 ] || fail "no parks"
    [ "$(matching ' unpark ')" -gt 0 ] || fail "no unparks"
    run 0 "$ORCA" info "$TRACE"
    lacks out "through JVMTI"
}
test_numbers_unknown() {
    local fact
    for fact in $(some 2 java_lang_Class::_klass_offset ConstMethod::_method_idnum InstanceKlass::_methods_jmethod_ids 'Array<Method*>::_data' \
        sizeof::Method CollectedHeap::_total_collections); do
        numbers "$fact"
        has said "LockSupport.park of this JVM differs from what Orca expects: it is not recorded"
        has lacking "LockSupport.park of this JVM differs from what Orca expects: it is not recorded"
        has said "stacks are taken through JVMTI"
        has lacking "stacks are taken through JVMTI"
        same "$(matching ' park_enter ')" 0
        [ "$(matching ' monitor_contended_enter ')" -gt 0 ] || fail "no contention"
        [ "$fact" != java_lang_Class::_klass_offset ] ||
            has said "method ids are not as Orca knows them on this JVM: stacks are taken through JVMTI, which takes longer"
    done
}
