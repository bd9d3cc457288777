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

# The same, and let in: "jar" has the cookie.
open_view() { # ARGUMENT...
    launch_view "$@"
    rm -f jar
    same "$(curl -s -o /dev/null -w '%{http_code} %{redirect_url}' -c jar "$url")" "303 $base/"
    take_cookie
}

# As a header: curl itself leaves it out when the Host is another one.
take_cookie() {
    cookie="orca-$port=$(awk '/orca-/ { print $7 }' jar)"
}

end_view() { # [STATUS]
    kill -INT "$view"
    wait "$view"
    same $? "${1:-0}"
}

# Ask with the cookie: the body is in "body", the headers in "head".
ask() { # STATUS PATH CURL-ARGUMENT...
    local want=$1 path=$2 got
    shift 2
    got=$(curl -s --path-as-is -g -H "Cookie: $cookie" -D head -o body -w '%{http_code}' "$@" "$base$path")
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
    has view.out "orca: app.otrace: http://127.0.0.1:"
    same "$(curl -s -o body -w '%{http_code}' "$base/")" 403
    has body 'Open the link that orca view has printed'
    same "$(curl -s -o body -w '%{http_code}' "$base/?token=0123456789abcdef0123456789abcdef")" 403
    has body 'copy it whole'
    curl -s -c jar -D head -o /dev/null "$url"
    has head 'HTTP/1.1 303'
    has head "Set-Cookie: orca-$port="
    has head 'HttpOnly; SameSite=Strict'
    secret=$(sed -n "s/^Set-Cookie: orca-$port=\([0-9a-f]*\);.*/\1/p" head)
    same "${#secret}" 32
    [ "$secret" != "${url##*=}" ] || fail "the cookie is the token"
    # Once only; who has the cookie comes in by it all the same.
    same "$(curl -s -o body -w '%{http_code}' "$url")" 403
    has body 'This link has been used. Run orca view again, or use the window that is open.'
    same "$(curl -s -o /dev/null -w '%{http_code}' -b jar "$url")" 303
    take_cookie
    same "$(curl -s -o body -D head -w '%{http_code}' -b jar -H 'Sec-Fetch-Site: cross-site' "$url")" 200
    has head 'Refresh: 0; url=/'
    ask 200 /
    has head "Content-Security-Policy: frame-ancestors 'none'"
    has body "content=\"default-src 'none'; script-src 'sha256-"
    for line in 'X-Content-Type-Options: nosniff' 'Referrer-Policy: no-referrer' \
        'Cross-Origin-Resource-Policy: same-origin' 'X-Frame-Options: DENY' 'Cache-Control: no-store'; do
        has head "$line"
    done
    ask 200 /api/state
    has head "Content-Security-Policy: default-src 'none'"
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

test_odd_requests() {
    record
    open_view "$TRACE"
    analysed
    local c="Cookie: $cookie" h="Host: 127.0.0.1:$port"
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
    curl -s -b jar -o /dev/null "$base/api/state?n=[1-2000]" || fail "curl: $?"
    curl -s -b jar -o /dev/null "$base/api/t1/g$gen/tile/20/[0-500]?rows=t1,t2"
    before=$(memory_kb)
    curl -s -b jar -o /dev/null -w '%{http_code}\n' "$base/api/state?n=[1-5000]" | sort | uniq -c >codes
    curl -s -b jar -o /dev/null -w '%{http_code}\n' "$base/api/t1/g$gen/tile/20/[1-5000]?rows=t1,t2" | sort | uniq -c >>codes
    same "$(awk '{ print $1, $2 }' codes | tr '\n' ' ')" '5000 200 5000 200 '
    after=$(memory_kb)
    echo "memory: $before kB, then $after kB"
    [ $((after - before)) -lt 2048 ] || fail "10,000 requests have left $((after - before)) kB"
    # More at a time than there is room for: the others wait.
    curl -s --no-progress-meter -Z --parallel-immediate --parallel-max 100 -b jar -o /dev/null -w '%{http_code}\n' \
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
    curl -s -N -b jar "$base/api/live" >live &
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
        curl -s -N -b jar "$base/api/live" >"live.$i" &
        eval "client$i=$!"
    done
    wait_for 60 eval '[ "$(cat live.* | grep -c ^retry:)" = 15 ]'
    ask 429 /api/live --max-time 5
    kill "$client7"
    wait_for 60 eval 'curl -s -N --max-time 1 -b jar "$base/api/live" | grep -q ^retry:'
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
    run 0 "$ORCA" report kept.otrace
    has out victim
    wait_for 60 eval '[ -z "$(ls -d orca-top-* 2>/dev/null)" ]'
    wait_for 60 eval '[ ! -e "/tmp/.orca-$(id -u)/$jvm.sock" ]'
    # Killed, too.
    open_view "$jvm"
    analysed
    kill -KILL "$view"
    wait "$view" 2>/dev/null
    wait_for 60 eval '[ -z "$(ls -d orca-top-* 2>/dev/null)" ]'
    wait_for 60 eval '[ ! -e "/tmp/.orca-$(id -u)/$jvm.sock" ]'
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
    has view.err 'is not recorded any more'
    run 0 "$ORCA" report live.otrace
    has out victim
    same "$(head -n 1 state/orca/recent)" "$PWD/live.otrace"
    echo end >&9
    wait "$jvm" || fail "the program ended with $?"
    no_crash
}
