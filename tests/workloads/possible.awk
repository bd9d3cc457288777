# possible.awk - complains about lines of `orca events` that no program can have caused.
#
# Times neither go back nor lie after the end of the recording; a stack that is named has frames; no
# time-out is negative; a wait that ended was begun.  Threads are known by name only here, and names
# repeat: so ends are compared with begins in number, per kind of wait.  Exit status 1: found some.
function value(name,    i) {
    for (i = 4; i <= NF; i++)
        if (index($i, name "=") == 1)
            return substr($i, length(name) + 2)
    return ""
}
function complain(what) {
    if (!(what in complaints))
        first[what] = $0
    complaints[what]++
}
{
    count[$3]++
    if ($1 + 0 < before)
        complain("time goes back")
    before = $1 + 0
    if (ended != "" && $1 + 0 > ended + 0)
        complain("after the end")
    if ($3 == "recording_end")
        ended = $1
    if (value("stack") + 0 > 0 && value("depth") == "0")
        complain("a stack without frames")
    if (value("timeout_ns") + 0 < 0 && $3 != "join_enter") # join throws after its probe
        complain("a negative time-out")
}
END {
    n = split("wait park sleep join semaphore_acquire", kinds, " ")
    for (i = 1; i <= n; i++) {
        $0 = kinds[i] ": " count[kinds[i] "_exit"] " ends, " count[kinds[i] "_enter"] " begins"
        # + 2: Reference Handler and Finalizer wait before the recording begins.
        # -v attached=1: any number did.
        if (!attached && count[kinds[i] "_exit"] > count[kinds[i] "_enter"] + 2)
            complain("more ends than begins")
    }
    for (what in complaints) {
        printf "%s (%d times, first: %s); ", what, complaints[what], first[what]
        found = 1
    }
    exit found
}
