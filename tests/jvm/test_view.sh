# orca view: who is let in, what is answered, and what becomes of it when the trace does.
# jdk: any
# timeout: 180
. "$ROOT/tests/jvm/traced.sh"
export XDG_STATE_HOME=$TMP/state LC_ALL=C.UTF-8

finish() {
    leave_no_jvm
}

# The server in the background: "view" is its pid, "url" its link, "base" what is before the path.
launch_view() { # ARGUMENT...
    set -m
    rm -f view.out
    "$ORCA" view --no-open "$@" >view.out 2>view.err &
    view=$!
    wait_for 60 grep -q '^orca: .*token=' view.out
    url=$(sed 's/.*: http/http/' view.out | sed 's/^orca: //')
    base=${url%/\?token=*}
    port=${base##*:}
}

# Bring a token: what is answered is in "body", its headers in "head".
enter() { # STATUS TOKEN [ORIGIN] [PATH]
    same "$(curl -s -D head -o body -w '%{http_code}' -H "Origin: ${3:-$base}" -d "token=$2" "$base${4:-/api/enter}")" "$1"
}

# The same server, and let in: "key" is a header, "keyed" are curl's arguments for it.
open_view() { # ARGUMENT...
    launch_view "$@"
    enter 200 "${url##*=}"
    take_key
}

take_key() {
    key="Orca-Key: $(sed -n 's/^{"key":"\([0-9a-f]*\)"}$/\1/p' body)"
    same "${#key}" 42
    keyed=(-H "$key")
}

end_view() { # [STATUS]
    kill -INT "$view"
    wait "$view"
    same $? "${1:-0}"
}

# Ask with the key: the body is in "body", the headers in "head".
ask() { # STATUS PATH CURL-ARGUMENT...
    local want=$1 path=$2 got
    shift 2
    got=$(curl -s --path-as-is -g -H "$key" -D head -o body -w '%{http_code}' "$@" "$base$path")
    [ "$got" = "$want" ] && return 0
    head -c 400 body
    fail "$path: $got instead of $want"
}

# Without curl's own ideas of a request: the first line of the answer.
raw() { # STATUS LINE...
    local want=$1 got
    shift
    exec 8<>"/dev/tcp/127.0.0.1/$port"
    (trap '' PIPE; printf '%b\r\n' "$@" '' >&8) 2>/dev/null # it may have been refused by then
    got=$(timeout 60 head -n 1 <&8 | cut -d ' ' -f 2)
    exec 8>&-
    [[ $got =~ ^($want)$ ]] || fail "'$got' instead of '$want': $1"
}

post() { # STATUS PATH JSON
    ask "$1" "$2" -H "Origin: $base" -H 'Content-Type: application/json' --data-binary "$3"
}

number() { # KEY
    grep -o "\"$1\": *-\{0,1\}[0-9]*" body | head -n 1 | tr -d ' ' | cut -d : -f 2
}

# Wait until the newest trace has been analysed: "gen" is its generation.
analysed() {
    wait_for 60 eval 'ask 200 /api/state && [ "$(number gen)" -gt 0 ]'
    gen=$(number gen)
}

memory_kb() {
    sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$view/status"
}

# A short trace; the program has ended.
record() {
    traced '' Contention >out 2>err || fail "the program ended with $?"
}

test_who_may_ask() {
    record
    launch_view "$TRACE"
    local token=${url##*=}
    has view.out "orca: app.otrace: http://127.0.0.1:"
    # The page is for everybody, what it shows is not, and nobody is given a cookie.
    same "$(curl -s -D head -o page -w '%{http_code}' "$base/")" 200
    lacks head 'Set-Cookie'
    lacks page "$TRACE"
    lacks page "$token"
    same "$(curl -s -o body -w '%{http_code}' "$base/api/state")" 403
    has body 'Open the link that orca view has printed'
    same "$(curl -s -o body -w '%{http_code}' "$base/%61pi/state")" 403
    # To look at the link uses nothing up, nor does what is not the token.
    same "$(curl -s -o body -w '%{http_code}' "$url")" 200
    cmp page body || fail "the link is answered by another page"
    enter 403 0123456789abcdef0123456789abcdef
    has body 'copy it whole'
    enter 403 "$token&x=1"
    enter 403 "$token" http://example.org
    has body 'another page'
    enter 403 "$token" "http://127.0.0.1:1"
    enter 403 "$token" null
    same "$(curl -s -o body -w '%{http_code}' -d "token=$token" "$base/api/enter")" 403
    same "$(curl -s -o body -w '%{http_code}' -H "Origin: $base" "$base/api/enter?token=$token")" 403
    enter 413 "$(printf '%0300d' 0)"
    same "$(curl -s -o body -w '%{http_code}' -H "Origin: $base" -H 'Content-Type: application/json' -d "token=$token" "$base/api/enter")" 400
    enter 200 "$token"
    lacks head 'Set-Cookie'
    has head 'Cache-Control: no-store'
    take_key
    [ "$key" != "Orca-Key: $token" ] || fail "the key is the token"
    # Once only.
    enter 403 "$token"
    has body 'This link has been used. Run orca view again, or use the window that is open.'
    enter 403 "$token" null /enter
    has body '<p>This link has been used.'
    # The key is good in its header only.
    same "$(curl -s -o body -w '%{http_code}' -H "Cookie: Orca-Key=${key##* }; orca-$port=${key##* }" "$base/api/state")" 403
    same "$(curl -s -o body -w '%{http_code}' "$base/api/state?key=${key##* }")" 403
    same "$(curl -s -o body -w '%{http_code}' -H "Authorization: Bearer ${key##* }" "$base/api/state")" 403
    # Nor does one without it have a second request on its connection.
    same "$(curl -s -o /dev/null -o /dev/null -w '%{num_connects} ' "$base/" "$base/")" '1 1 '
    same "$(curl -s -o /dev/null -o /dev/null -w '%{num_connects} ' "${keyed[@]}" "$base/" "$base/")" '1 0 '
    ask 200 /
    has head "Content-Security-Policy: frame-ancestors 'none'"
    has body "content=\"default-src 'none'; script-src 'sha256-"
    for line in 'X-Content-Type-Options: nosniff' 'Referrer-Policy: no-referrer' \
        'Cross-Origin-Resource-Policy: same-origin' 'X-Frame-Options: DENY' 'Cache-Control: no-store'; do
        has head "$line"
    done
    ask 200 /api/state
    has head "Content-Security-Policy: default-src 'none'"
    has head 'Vary: Accept-Encoding, Orca-Key'
    ask 403 /api/state -H 'Host: example.org'
    has body 'another host'
    ask 403 /api/state -H "Host: 127.0.0.1:1$port"
    has body 'another host'
    ask 400 /api/state -H 'Host:'
    ask 200 /api/state -H "Host: localhost:$port"
    ask 403 /api/state -H 'Origin: http://example.org'
    has body 'another page'
    ask 403 /api/state -H 'Origin: null'
    has body 'another page'
    ask 200 /api/state -H "Origin: $base"
    ask 403 /api/save -X POST -H 'Content-Type: application/json' -d '{}'
    ask 400 /api/save -X POST -H "Origin: $base" -d '{}'
    ask 405 /api/state -X DELETE
    has head 'Allow: GET, POST'
    post 405 /api/state '{}'
    has head 'Allow: GET'
    post 413 /api/save "$(printf '%070000d' 0)"
    ask 400 /api/save -X POST -H "Origin: $base" -H 'Content-Type: application/json' -H 'Transfer-Encoding: chunked' -d '{}'
    # Elsewhere than on 127.0.0.1 nobody listens.
    same "$(awk -v p="$(printf '%04X' "$port")" '$4 == "0A" && $2 ~ ":" p "$" { print $2 }' /proc/net/tcp /proc/net/tcp6)" \
        "0100007F:$(printf '%04X' "$port")"
    end_view
}

# An unknown user of this machine reads what a browser is started with: it opens nothing.
test_what_a_browser_is_started_with() {
    local runner=() i said file token
    record
    if [ "$(id -u)" = 0 ]; then
        runner=(setpriv --reuid nobody --regid nogroup --clear-groups)
        "${runner[@]}" test -r "$TRACE" -a -x "$ORCA" 2>/dev/null || {
            chmod 755 "$TMP" && chmod 644 "$TRACE"
            "${runner[@]}" test -r "$TRACE" -a -x "$ORCA" || skip "another user cannot run orca here"
        }
    fi
    mkdir bin home "home/a b%" state
    printf '#!/bin/sh\nprintf "%%s\\n" "$@" >"%s"\ncat /proc/[0-9]*/cmdline >"%s"\n: >"%s"\n' "$TMP/home/said" "$TMP/home/lines" "$TMP/home/done" >bin/xdg-open
    chmod 755 bin/xdg-open
    [ "$(id -u)" != 0 ] || chown -R nobody:nogroup home state
    set -m
    HOME="$TMP/home/a b%" DISPLAY=:7 PATH="$TMP/bin:$PATH" "${runner[@]}" "$ORCA" view "$TRACE" >view.out 2>view.err &
    view=$!
    wait_for 60 test -e home/done
    wait_for 60 grep -q '^orca: .*token=' view.out
    url=$(sed 's/.*: http/http/' view.out)
    base=${url%/\?token=*} port=${base##*:}
    port=${port%%/*}
    # One argument: a file's address.
    same "$(wc -l <home/said)" 1
    said=$(cat home/said)
    same "${said%/*}" "file://$TMP/home/a%20b%25"
    file="$TMP/home/a b%/${said##*/}"
    same "$(stat -c %a "$file")" 600
    [ "$(id -u)" = 0 ] || [ -O "$file" ] || fail "the file is another's"
    has "$file" "action=\"$base/enter\""
    token=$(sed -n 's/.*value="\([0-9a-f]*\)".*/\1/p' "$file")
    same "${#token}" 32
    # No process has been started with a token: neither that of the file nor that of the link, nor any other that works.
    lacks home/lines "$token"
    lacks home/lines "${url##*=}"
    for i in $(tr -c '0-9a-f' '\n' <home/lines | awk 'length($0) >= 32 { for (k = 1; k + 31 <= length($0); k++) print substr($0, k, 32) }' | sort -u); do
        enter 403 "$i"
    done
    # The file's opens the page, which has the key, and then the file is gone.
    enter 200 "$token" null /enter
    has body '<div id="app">'
    i=$(sed -n 's/.*<meta name="orca-key" content="\([0-9a-f]*\)">.*/\1/p' body)
    same "$(curl -s -o body -w '%{http_code}' -H "Orca-Key: $i" "$base/api/state")" 200
    enter 403 "$token" null /enter
    wait_for 60 test ! -e "$file"
    same "$(ls -A "home/a b%")" ''
    # The printed link is another one.
    enter 200 "${url##*=}"
    end_view
    # Nobody has read it: it is gone at the end.
    rm home/done
    HOME="$TMP/home/a b%" DISPLAY=:7 PATH="$TMP/bin:$PATH" "${runner[@]}" "$ORCA" view "$TRACE" >view.out 2>view.err &
    view=$!
    wait_for 60 test -e home/done
    same "$(ls -A "home/a b%" | wc -l)" 1
    end_view
    same "$(ls -A "home/a b%")" ''
    # A home folder that others may write to is none of ours.
    rm home/done
    chmod 777 "home/a b%"
    HOME="$TMP/home/a b%" XDG_RUNTIME_DIR= DISPLAY=:7 PATH="$TMP/bin:$PATH" "${runner[@]}" "$ORCA" view "$TRACE" >view.out 2>view.err &
    view=$!
    wait_for 60 grep -q 'open the link in a browser' view.err
    end_view
    [ ! -e home/done ] || fail "a browser was started"
}

# Where it is known who has run it, another user's token is refused, and not used up.
test_another_user_opens_no_link() {
    [ "$(id -u)" = 0 ] || skip "needs root"
    record
    SUDO_UID=1 launch_view "$TRACE"
    same "$(setpriv --reuid nobody --regid nogroup --clear-groups curl -s -H "Origin: $base" -d "token=${url##*=}" "$base/api/enter")" \
        '{"error":"Another user of this machine sent this request: only the user who ran orca view may open the link."}'
    same "$(setpriv --reuid 1 --regid nogroup --clear-groups curl -s -o /dev/null -w '%{http_code}' -H "Origin: $base" -d "token=${url##*=}" "$base/api/enter")" 200
    end_view
}

# Connections to the server that stay as long as the test does.
hold() { # N [TEXT]
    local i
    for ((i = 0; i < $1; i++)); do
        exec {fd}<>"/dev/tcp/127.0.0.1/$port" || return 1
        printf "${2:-}" >&"$fd"
    done 2>/dev/null
}

# A thousand connections that say nothing, say it slowly, or do not read: who has the link gets in, and who has the key goes on.
test_slow_strangers() {
    local fd=0 h
    record
    launch_view "$TRACE"
    h="GET / HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\n"
    ulimit -n 4000 2>/dev/null || skip "so many descriptors are not to be had"
    hold 500 && hold 500 "${h}X: " && hold 100 "$h\\r\\n" || fail "they could not come"
    same "$(curl -s -o body -w '%{http_code}' --max-time 20 "$base/")" 200
    enter 200 "${url##*=}"
    take_key
    analysed
    hold 500 && hold 500 "${h}X: " && hold 100 "$h\\r\\n" || fail "they could not come"
    curl -s "${keyed[@]}" -o /dev/null -w '%{http_code}\n' --max-time 20 "$base/api/t1/g$gen/overview?n=[1-50]" | sort | uniq -c >codes
    same "$(awk '{ print $1, $2 }' codes)" '50 200'
    end_view
}

test_odd_requests() {
    record
    open_view "$TRACE"
    analysed
    local c="$key" h="Host: 127.0.0.1:$port"
    raw 200 'GET /api/state HTTP/1.1' "$h" "$c"
    raw 400 'GET /api/state HTTP/1.1' "$h" "$h" "$c"
    raw 400 "GET http://127.0.0.1:$port/api/state HTTP/1.1" "$h" "$c"
    raw 400 'GET /api/state\0x HTTP/1.1' "$h" "$c"
    raw 400 'GET api/state HTTP/1.1' "$h" "$c"
    raw 400 'GET /api/state HTTP/1.1' "$h" "$c" 'Origin: http://localhost:'"$port" 'Origin: http://example.org'
    raw 405 'HEAD /api/state HTTP/1.1' "$h" "$c"
    raw 405 'PRI * HTTP/1.1' "$h" "$c"
    raw '431|' 'GET /api/state HTTP/1.1' "$h" "$c" "X: $(printf '%030000d' 0)"
    ask 404 /../../etc/passwd
    ask 404 /..%2f..%2fetc/passwd
    ask 404 /%2e%2e/%2e%2e/etc/passwd
    ask 404 /api/../../etc/passwd
    ask 400 /%00
    ask 400 '/api/state?a=%0a'
    ask 400 /api/%zz
    ask 400 '/api/state?%'
    ask 404 /favicon.ico
    for tile in 45/0 44/99999999999 0/4611686018427387904 44/-4611686018427387904 0/-4611686018427387904; do
        ask 400 "/api/t1/g$gen/tile/$tile?rows=t1"
        ask 400 "/api/t1/g$gen/arrows/$tile"
        ask 400 "/api/t1/g$gen/path/$tile"
    done
    for path in tile/1/9223372036854775808 tile/-1/0 tile/1/1.0 tile/1/01 tile/1/+1 tile/1/0x1 tile/1 tile//1; do
        ask 404 "/api/t1/g$gen/$path?rows=t1"
    done
    ask 400 "/api/t1/g$gen/tile/20/0"
    ask 400 "/api/t1/g$gen/tile/20/0?rows=x1"
    ask 400 "/api/t1/g$gen/tile/20/0?rows=t1&rows=t2"
    ask 400 "/api/t1/g$gen/tile/20/0?rows=t1&other=2"
    ask 400 "/api/t1/g$gen/tile/20/0?rows=$(seq -s , -f 't%.0f' 1 257)"
    ask 200 "/api/t1/g$gen/tile/20/0?rows=$(seq -s , -f 't%.0f' 1 256)"
    ask 404 /api/t2/meta
    ask 404 /api/t99999999999/meta
    ask 404 "/api/t2/g$gen/report"
    ask 410 "/api/t1/g$((gen + 1))/report"
    same "$(number gen)" "$gen"
    ask 200 "/api/t1/g$gen/overview?n=16"
    has head 'Cache-Control: private, max-age=31536000, immutable'
    local tag
    tag=$(sed -n 's/^ETag: \(.*\)\r/\1/p' head)
    ask 304 "/api/t1/g$gen/overview?n=16" -H "If-None-Match: $tag"
    ask 200 /api/t1/meta
    has head 'Cache-Control: no-store'
    same "$(number gen)" "$gen"
    post 404 /api/attach '{"pid":1}' # there is no start page
    post 400 /api/save '{"trace":1}'
    post 400 /api/save '{"trace":1,"to":"/nowhere/x.otrace"}'
    post 400 /api/save "{\"trace\":1,\"to\":\"$TRACE\"}"
    has body 'already'
    post 404 /api/save '{"trace":2,"to":"x.otrace"}'
    post 200 /api/save '{"trace":1,"to":"copy.otrace"}'
    has body "$PWD/copy.otrace"
    cmp "$TRACE" copy.otrace || fail "the copy is another one"
    ask 200 /api/state
    end_view
    same "$(head -n 1 state/orca/recent)" "$PWD/copy.otrace"
}

test_many_requests() {
    local before after i
    record
    open_view "$TRACE"
    analysed
    # One connection, and warm.
    curl -s "${keyed[@]}" -o /dev/null "$base/api/state?n=[1-2000]" || fail "curl: $?"
    curl -s "${keyed[@]}" -o /dev/null "$base/api/t1/g$gen/tile/20/[0-500]?rows=t1,t2"
    before=$(memory_kb)
    curl -s "${keyed[@]}" -o /dev/null -w '%{http_code}\n' "$base/api/state?n=[1-5000]" | sort | uniq -c >codes
    curl -s "${keyed[@]}" -o /dev/null -w '%{http_code}\n' "$base/api/t1/g$gen/tile/20/[1-5000]?rows=t1,t2" | sort | uniq -c >>codes
    same "$(awk '{ print $1, $2 }' codes | tr '\n' ' ')" '5000 200 5000 200 '
    after=$(memory_kb)
    echo "memory: $before kB, then $after kB"
    [ $((after - before)) -lt 2048 ] || fail "10,000 requests have left $((after - before)) kB"
    # Many at a time.
    curl -s --no-progress-meter -Z --parallel-immediate --parallel-max 100 "${keyed[@]}" -o /dev/null -w '%{http_code}\n' \
        "$base/api/t1/g$gen/overview?n=[1-300]" >codes
    same "$(sort codes | uniq -c | awk '{ print $1, $2 }')" '300 200'
    # Clients that say nothing keep nobody out for long.
    for i in $(seq 20); do
        exec {fd}<>"/dev/tcp/127.0.0.1/$port"
    done
    ask 200 /api/state --max-time 60
    end_view
}

# The events of a client in the background are in "live"; its pid is "listener".
listen() {
    curl -s -N "${keyed[@]}" "$base/api/live" >live &
    listener=$!
    wait_for 60 grep -q '^retry:' live
}

test_events() {
    local i
    record
    open_view "$TRACE"
    analysed
    listen
    wait_for 60 grep -q "^data: {\"trace\":1,\"gen\":$gen,\"phase\":null," live
    # Each of sixteen has a place, and one that goes away gives it back.
    for i in $(seq 15); do
        curl -s -N "${keyed[@]}" "$base/api/live" >"live.$i" &
        eval "client$i=$!"
    done
    wait_for 60 eval '[ "$(cat live.* | grep -c ^retry:)" = 15 ]'
    ask 429 /api/live --max-time 5
    kill "$client7"
    wait_for 60 eval 'curl -s -N --max-time 1 "${keyed[@]}" "$base/api/live" | grep -q ^retry:'
    rm "$TRACE"
    wait_for 60 grep -q '^event: gone' live
    has live 'the file is gone'
    ask 200 "/api/t1/g$gen/overview"
    ask 200 /api/state
    has body '"gone":true'
    kill "$listener"
    end_view
}

test_errors() {
    run 1 "$ORCA" view --no-open nothing.otrace
    has err 'nothing.otrace: No such file'
    run 1 "$ORCA" view --no-open 99999999
    has err 99999999
    echo rubbish >rubbish.otrace
    run 1 "$ORCA" view --no-open rubbish.otrace
    has err 'rubbish.otrace'
    run 2 "$ORCA" view a b
    run 2 "$ORCA" view --port 70000
    record
    launch_view "$TRACE"
    run 1 "$ORCA" view --no-open --port "$port" "$TRACE"
    has err "127.0.0.1:$port: cannot listen"
    end_view
    # It ends by itself when nobody looks.
    run 0 timeout 60 "$ORCA" view --no-open --idle 1s "$TRACE"
}

# A recording that goes on: its generations grow, the one before the newest is answered still.
test_growing() {
    launch_told TopLoad "$(agent '')" --
    open_view "$jvm"
    has view.err 'joined'
    analysed
    local first=$gen
    listen
    wait_for 60 eval 'ask 200 /api/state && [ "$(number gen)" -gt '"$first"' ]'
    same "$(number live_pid)" "$jvm"
    gen=$(number gen)
    wait_for 60 eval '[ "$(grep -c "^event: gen" live)" -ge 3 ]'
    wait_for 60 eval 'ask 200 /api/state && [ "$(number gen)" -gt '"$((gen + 1))"' ]'
    ask 410 "/api/t1/g$first/overview"
    post 400 /api/stop '{"pid":1}'
    post 400 /api/save '{"trace":1,"to":"/nowhere/x.otrace"}'
    post 200 /api/save '{"trace":1,"to":"copy.otrace"}'
    run 0 "$ORCA" info copy.otrace
    post 200 /api/stop "{\"pid\":$jvm}"
    has body "$TRACE"
    wait_for 60 eval 'ask 200 /api/state && [ "$(number live_pid)" = 0 ]'
    end_view
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

# A JVM that nobody records: it is as it was afterwards.
test_own_recording() {
    launch_told TopLoad --
    open_view "$jvm"
    analysed
    same "$(number live_pid)" "$jvm"
    post 200 /api/save '{"trace":1,"to":"kept.otrace"}'
    end_view
    run 0 "$ORCA" report --all kept.otrace
    has out victim
    wait_for 60 eval '[ -z "$(ls -d orca-top-* 2>/dev/null)" ]'
    wait_for 60 eval '[ -z "$(control_socket "$jvm")" ]'
    # Killed, too.
    open_view "$jvm"
    analysed
    kill -KILL "$view"
    wait "$view" 2>/dev/null
    wait_for 60 eval '[ -z "$(ls -d orca-top-* 2>/dev/null)" ]'
    wait_for 60 eval '[ -z "$(control_socket "$jvm")" ]'
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}

# A JVM that ends, or is killed, while it is looked at: all of its trace is there.
test_killed_jvm() {
    launch_told TopLoad "$(agent '')" --
    open_view "$jvm"
    analysed
    kill -KILL "$jvm"
    wait "$jvm" 2>/dev/null
    wait_for 60 eval 'ask 200 /api/state && [ "$(number live_pid)" = 0 ]'
    gen=$(number gen)
    ask 200 /api/t1/meta
    grep -q '"state": *"recovered"' body || fail "the trace is not recovered"
    ask 200 "/api/t1/g$gen/overview"
    end_view
}

test_start_page() {
    record
    cp "$TRACE" first.otrace
    launch_told TopLoad --
    open_view
    ask 200 /api/state
    has body '"start":true,"traces":[]'
    listen
    ask 200 /api/start
    has body "\"pid\":$jvm,\"name\":\"TopLoad\""
    has body "\"path\":\"$PWD/first.otrace\""
    has body '"name":"monitors","summary":'
    local id
    id=$(grep -o '"id":[0-9]*,[^{}]*first.otrace"' body | sed 's/^"id":\([0-9]*\).*/\1/' | head -n 1)
    post 404 /api/open '{"id":77}'
    post 400 /api/open "{\"id\":\"$PWD/first.otrace\"}"
    post 200 /api/open "{\"id\":$id}"
    same "$(number trace)" 1
    post 400 /api/attach '{"pid":"x"}'
    has body '"field":"pid"'
    post 404 /api/attach '{"pid":999999}'
    post 400 /api/attach "{\"pid\":$jvm,\"events\":[\"nonsense\"]}"
    has body '"field":"events"'
    post 400 /api/attach "{\"pid\":$jvm,\"methods\":\"nowhere.txt\"}"
    has body '"field":"methods"'
    post 400 /api/attach "{\"pid\":$jvm,\"depth\":-1}"
    has body '"field":"depth"'
    post 400 /api/attach "{\"pid\":$jvm,\"ownerstacks\":\"some\"}"
    has body '"field":"ownerstacks"'
    post 400 /api/attach "{\"pid\":$jvm,\"output\":\"first.otrace\"}"
    has body 'already'
    post 200 /api/attach "{\"pid\":$jvm,\"events\":[\"threads\",\"monitors\"],\"depth\":20,\"output\":\"live.otrace\",\"exclude\":\"a,b.*\"}"
    same "$(number trace)" 2
    has body "$PWD/live.otrace"
    wait_for 60 grep -q '^event: start' live
    post 200 /api/attach "{\"pid\":$jvm}"
    same "$(number trace)" 2
    post 400 /api/attach "{\"pid\":$jvm,\"depth\":20}"
    has body 'already'
    ask 200 /api/start
    has body "\"recording\":{\"file\":\"$PWD/live.otrace\""
    kill -STOP "$jvm"
    ask 200 /api/start --max-time 60
    has body '"state":"stopped"'
    post 503 /api/stop "{\"pid\":$jvm}"
    has body 'kill -CONT'
    run 1 timeout 60 "$ORCA" view --no-open "$jvm"
    has err 'kill -CONT'
    kill -CONT "$jvm"
    wait_for 60 eval 'ask 200 /api/t2/meta && [ "$(number gen)" -gt 0 ]'
    end_view
    has view.err ': the recording has ended; its trace is '
    run 0 "$ORCA" report --all live.otrace
    has out victim
    same "$(head -n 1 state/orca/recent)" "$PWD/live.otrace"
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}
