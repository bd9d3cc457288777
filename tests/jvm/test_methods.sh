# Methods that the user names (methods=), against a program that knows its numbers (UserCalls.java).
. "$ROOT/tests/jvm/traced.sh"

calls() { # KIND CALL
    matching "^[^ ]* main $1 call=UserCalls[$]$2 "
}

table() {
    cat >table
}

test_named_methods() {
    table <<'END'
# what each row must count is in UserCalls.java
UserCalls$Order#place(Ljava/lang/String;) tries OrderPlace OrderPlaced
UserCalls$Order#<init>(I)V calls
UserCalls$Mine#work arg0
UserCalls$Task#run calls none   # a comment
UserCalls$Task#twice
UserCalls$Thrower#boom
UserCalls$Words#add(Ljava/lang/Object;)Z calls
UserCalls$Plugin#step calls
java.lang.Thread#getId calls
END
    run_traced 0 methods=table UserCalls
    same "$(cat out)" "sum 63
done"
    events
    same "$(calls call_enter Order.place)" 15
    same "$(matching ' call_exit call=UserCalls.Order.place .* failed=1')" 5
    same "$(matching ' call_enter call=UserCalls.Order.place lock=[0-9]* class=UserCalls.Rush ')" 5
    same "$(calls call 'Order.<init>')" 19
    same "$(matching ' call call=UserCalls.Order.<init> lock=[0-9]* class=UserCalls.(Order|Rush) ')" 19
    same "$(calls call_enter Mine.work) $(calls call_exit Mine.work)" "3 3"
    same "$(matching ' call_enter call=UserCalls.Mine.work lock=[0-9]* class=java.lang.String ')" 3
    same "$(calls call Task.run)" 16 # 4 doubled, 4 halved, 8 by twice; not the lambda's
    same "$(calls call_enter Task.twice)" 4
    same "$(matching ' call_exit call=UserCalls.Thrower.boom .* failed=1')" 2
    same "$(calls call Words.add)" 6
    same "$(calls call Plugin.step)" 9
    same "$(matching ' call(_enter)? .* at=java.lang.OrcaProbe|call=\?')" 0
}

# The tables of the report against the same numbers; the waits of Gate.pass are inside its calls.
test_report() {
    table <<'END'
UserCalls$Order#place(Ljava/lang/String;) tries
UserCalls$Order#<init>(I)V calls
UserCalls$Gate#pass blocks arg0
END
    run_traced 0 methods=table UserCalls
    run 0 "$ORCA" report --calls --json app.otrace
    # class.method kind count failed unknown open
    entries() {
        sed -n "/\"$1\": \\[/,/^ \\]/s/.*\"class\": \"\\([^\"]*\\)\", \"method\": \"\\([^\"]*\\)\", \"kind\": \"\\([a-z]*\\)\", \"jdk\": false, \"called_count\": \\([0-9]*\\), \"called_unknown\": \\([0-9]*\\), \"called_open\": \\([0-9]*\\),.*\"failed_count\": \\([0-9]*\\),.*/\\1.\\2 \\3 \\4 \\5 \\6 \\7/p" out | sort
    }
    same "$(entries calls)" 'UserCalls$Gate.pass blocks 3 0 0 0
UserCalls$Order.<init> calls 19 0 0 0
UserCalls$Order.place tries 15 0 0 5'
    same "$(entries call_sites | grep place)" 'UserCalls$Order.place tries 10 0 0 5
UserCalls$Order.place tries 5 0 0 0'
    pass=$(sed -n '/"calls": \[/,/^ \]/s/.*"method": "pass",.*"called_ns": \([0-9]*\),.*"in_waits_ns": \([0-9]*\).*/\1 \2/p' out)
    [ "${pass#* }" -gt 0 ] || fail "no time in the waits of Gate.pass"
    [ "${pass% *}" -ge "${pass#* }" ] || fail "calls of ${pass% *} ns, waits of ${pass#* } ns in them"
    line=$(grep -n 'site: place' "$ROOT/tests/jvm/UserCalls.java" | cut -d : -f 1)
    run 0 "$ORCA" report --all app.otrace
    has out "from UserCalls.calls (UserCalls.java:$line)"
}

waits_of_main() {
    grep -c ",ObjectWait,$(sed -n 's/.*,ThreadStarted,\(.*\),main$/\1/p' text.orca)," text.orca
}

# The same calls as text, and back; a wait inside a tracked method is part of it, unless that nests.
test_text() {
    table <<'END'
UserCalls$Gate#pass blocks arg0 GatePass GatePassed
UserCalls$Order#<init>(I) calls none NewOrder
END
    run_traced 0 methods=table UserCalls
    "$ORCA" export --to orca -o text app.otrace 2>export.err || fail "$(cat export.err)"
    has export.err "text.calltable: 2 lines"
    same "$(cut -d , -f 2 text.orca | grep -c '^GatePass$') $(cut -d , -f 2 text.orca | grep -c '^GatePassed$')" "3 3"
    same "$(grep -c ',NewOrder,[0-9A-F]\{8\},00000000,[1-9]' text.orca)" 19
    same "$(waits_of_main)" 0
    "$ORCA" export --to orca -o again text.orca 2>export.err || fail "$(cat export.err)"
    for suffix in orca methods classtable calltable; do
        cmp text.$suffix again.$suffix || fail "$suffix differs after an import"
    done
    rm text.calltable
    run 1 "$ORCA" info text.orca
    has err 'expected an event (ObjectWait, ThreadStarted, ...), found "'
    same "$(wc -l <err)" 1

    sed -i 's/blocks/blocks nests/' table
    run_traced 0 methods=table UserCalls
    "$ORCA" export --to orca -o text app.otrace 2>export.err || fail "$(cat export.err)"
    same "$(waits_of_main) $(cut -d , -f 2 text.orca | grep -c '^GatePass')" "3 6"
}

# No tracked call: three files, as ever, and no older fourth one.
test_no_calls_no_table() {
    run_traced 0 '' UserCalls
    echo old >text.calltable
    "$ORCA" export --to orca -o text app.otrace 2>export.err || fail "$(cat export.err)"
    same "$(ls text.*)" "text.classtable
text.methods
text.orca"
    lacks export.err calltable
}

test_what_matches_nothing() {
    table <<'END'
UserCalls$Order#plac
UserCalls$Order#place(J)
Nothing#here
UserCalls$Task#run
UserCalls$Thrower#boom tries
java.lang.Object#hashCode
UserCalls$Plugin#step calls
END
    run 0 traced methods=table UserCalls isolated
    good_trace complete
    same "$(cat err)" "orca: methods=table: line 1, UserCalls\$Order#plac, matched nothing: no class of this name was used
orca: methods=table: line 2, UserCalls\$Order#place(J), matched nothing: no class of this name was used
orca: methods=table: line 3, Nothing#here, matched nothing: no class of this name was used
orca: methods=table: line 4, UserCalls\$Task#run, matched nothing: no class of this name was used
orca: methods=table: line 5, UserCalls\$Thrower#boom, matched nothing: no class of this name was used"
    rm app.otrace
    run 0 traced methods=table UserCalls
    has err 'line 1, UserCalls$Order#plac, matched nothing: the class has no such method; did you mean place?'
    has err 'line 2, UserCalls$Order#place(J), matched nothing: the class has no such method; did you mean place('
    has err 'line 3, Nothing#here, matched nothing: no class of this name was used'
    has err 'line 5, UserCalls$Thrower#boom, matched nothing: it does not return a boolean, so `tries` does not fit'
    same "$(wc -l <err)" 4
}

# On the command line, and what is wrong with a table before the program starts.
test_command() {
    run 0 "$ORCA" record -o app.otrace -m 'UserCalls$Thrower#boom calls none Boom+UserCalls$Task#twice' -- \
        "$JAVA" -cp "$CLASSES" UserCalls
    events
    same "$(calls call Thrower.boom) $(calls call_enter Task.twice)" "2 4"
    echo 'UserCalls.boom' >table
    run 1 "$ORCA" record -o app.otrace -m table -- "$JAVA" -cp "$CLASSES" UserCalls
    same "$(cat err)" 'orca: table: line 1: "UserCalls.boom": name a method as CLASS#METHOD: shop.Order#place, shop.Order#<init>'
    run 0 traced methods=table UserCalls
    has err 'orca: table: line 1: "UserCalls.boom": name a method as CLASS#METHOD'
    run 1 "$ORCA" record -m none.methods -- "$JAVA" -version
    has err 'none.methods: No such file or directory'
}

# Classes with tracked methods come and go.
test_unloading() {
    echo 'Unloading$Work#block calls none Block' >table
    run 0 traced methods=table -Xmx64m Unloading 100
    no_crash
    good_trace complete
    events
    same "$(matching ' call call=Unloading.Work.block ')" 100
    at_least "$(sed 's/unloaded //' out)" 99 "unloaded loaders"
}

# What a method of the table lasts holds its thread up, whichever file is asked: the trace, its text.  TPTP's XML has no
# calls of methods: of those it says nothing, of the rest the same.
test_the_same_from_trace_and_texts() {
    run_traced 0 'methods=Slow$Gate#pass+Slow$Gate#look' Slow
    run 0 "$ORCA" export --to orca -o app "$TRACE"
    answers() {
        run 0 "$ORCA" report --json "$1"
        jq -r '([.locks[] | .held_up_count] | add), ([.locks[] | .held_up_ns] | add / 1e6 | round),
            ([.owners[] | select(.owner_name == "notifier") | .held_up_count] | add),
            (.interactions | map(select(.count > 0) | "\(.kind) \(.count)") | join(", ")),
            ([.threads[] | select(.name == "a") | .held_up_count] | add)' out
    }
    answers "$TRACE" >of_trace
    at_least "$(sed -n 1p of_trace)" 11 "waits for the gate"
    at_least "$(sed -n 2p of_trace)" 220 "ms lost"
    answers app.orca >of_text
    same "$(sed -n '1,3p; 5p' of_text)" "$(sed -n '1,3p; 5p' of_trace)"
    run 0 "$ORCA" export --to tptp -o app "$TRACE"
    has err "tptp cannot hold " # and for what the program's classes were read with, where that took long (io)
    has err "210 call_enter, 210 call_exit"
    answers app.trcxml >of_xml
    same "$(sed -n '3,4p' of_xml)" "$(sed -n '3,4p' of_trace)"
    same "$(sed -n 1p of_xml)" "$(sed -n 3p of_trace)" "the calls are not there, what the notifier kept is"
}
