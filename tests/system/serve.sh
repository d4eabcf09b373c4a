#!/bin/bash
# `ringscope serve` from outside: what it gives, byte by byte, and all that it refuses.
# sanitizers: address
set -u
fails=0
fail() {
    echo "line ${BASH_LINENO[1]}: $*"
    fails=$((fails + 1))
}
same() { [ "$1" = "$2" ] || fail "'$1' instead of '$2'"; }
has() { [[ $1 == *"$2"* ]] || fail "'$2' is not in: ${1:0:1000}"; }
lacks() { [[ $1 != *"$2"* ]] || fail "'$2' is in: ${1:0:1000}"; }

root=$PWD
if "$RINGSCOPE" --version | grep -Eq '^  (libevent|page) +off'; then
    echo "built without libevent or without the page"
    exit 77
fi
sql=on
"$RINGSCOPE" --version | grep -Eq '^  sqlite +off' && sql=off
export RINGSCOPE_TEST_QUERY_SECONDS=2 # instead of 10
unset SSH_CONNECTION http_proxy HTTP_PROXY ALL_PROXY all_proxy
mkdir "$TMP/tmp"
cd "$TMP" || exit 1
server=
crowd=
trap '[ -z "$server$crowd" ] || kill -9 $server $crowd 2>/dev/null' EXIT

# start OPTION...: serves a real recording; $address, $port and $query are set.
start() {
    : >address
    TMPDIR=$TMP/tmp "$RINGSCOPE" serve "$@" "$root/tests/data/h200-mix" >address 2>said &
    server=$!
    until [ -s address ] || ! kill -0 $server 2>/dev/null; do sleep 0.05; done
    address=$(cat address)
    [[ $address =~ ^http://127\.0\.0\.1:([0-9]+)/\?(t=[0-9a-f]{32})$ ]] || {
        echo "no address: $address $(cat said)"
        exit 1
    }
    port=${BASH_REMATCH[1]} query=${BASH_REMATCH[2]}
    base=http://127.0.0.1:$port
    bundle="$base/bundle?$query"
}
stop() { # SIGNAL: how it ends
    kill -s "$1" $server
    wait $server 2>/dev/null
    ended=$?
    server=
}
get() { # STATUS CURL-ARGUMENT...: $head and the file `body` hold the answer
    local want=$1
    shift
    : >body
    status=$(curl -s -m 120 --path-as-is -D headers -o body -w '%{http_code}' "$@")
    head=$(tr -d '\r' <headers)
    same "$status $*" "$want $*"
}
# raw TEXT: what comes back to bytes that curl would not send. Escapes as of printf.
raw() {
    exec 7<>"/dev/tcp/127.0.0.1/$port"
    printf '%b' "$1" >&7 2>/dev/null
    timeout 120 cat <&7 2>/dev/null | tr -d '\r\0'
    exec 7<&- 7>&-
}

# crowd WHAT...: clients in another program (tests/drive/crowd.c), all there when this returns.
crowd() {
    : >ready
    "$BUILD/tests/crowd" "$port" "$@" >ready &
    crowd=$!
    until grep -q ready ready || ! kill -0 $crowd 2>/dev/null; do sleep 0.05; done
    grep -q ready ready || fail "no crowd: $*"
}
leave() {
    kill $crowd
    wait $crowd 2>/dev/null
    crowd=
}
# at_once WHO: five good clients, one after the other, wait for less than 20 s in all. What curl itself takes to start is
# not counted.
at_once() {
    local i waited=0
    for i in 1 2 3 4 5; do
        read -r status us <<<"$(curl -s -m 60 -r 0-99 -o /dev/null -w '%{http_code} %{time_total}' "$bundle" | tr -d .)"
        same "$status, $1" "206, $1"
        waited=$((waited + 10#$us))
    done
    [ $waited -lt 20000000 ] || fail "waited for $waited us: $1"
}
memory() { awk '$1 == "VmRSS:" { print $2 }' "/proc/$server/status"; }

# ---- the page, the bundle, and what is said ----
start
same "$(wc -l <address)" 1
has "$(cat said)" "ssh -N -L $port:127.0.0.1:$port "
get 200 "$address"
same "$(grep -c '<div id="app">' body)" 1
for header in "Cache-Control: no-store" "X-Content-Type-Options: nosniff" "X-Frame-Options: DENY" \
    "Referrer-Policy: no-referrer" "Content-Type: text/html; charset=utf-8"; do has "$head" "$header"; done
# The policy of the page itself holds here, too.
policy=$(sed -n 's/.*http-equiv="Content-Security-Policy" content="\([^"]*\)".*/\1/p' "$root/viewer/index.html")
has "$policy" "default-src 'none'"
has "$head" "Content-Security-Policy: $policy; frame-ancestors 'none'"
lacks "$(cat body)" "${query#t=}"
get 200 "$bundle"
mv body all
size=$(stat -c %s all)
has "$head" "Content-Length: $size"
has "$head" "Accept-Ranges: bytes"
[ "$size" -gt 10000 ] || fail "a bundle of $size bytes"
get 200 -I "$bundle"
has "$head" "Content-Length: $size"
same "$(stat -c %s body)" "$(stat -c %s headers)" # the header alone, which curl -I shows as body, too
get 200 -I "$address"

# ---- ranges ----
part() { # FROM LENGTH RANGE
    get 206 -r "$3" "$bundle"
    has "$head" "Content-Range: bytes $1-$(($1 + $2 - 1))/$size"
    has "$head" "Content-Length: $2"
    dd if=all of=want iflag=skip_bytes,count_bytes skip="$1" count="$2" status=none
    cmp -s body want || fail "bytes of $3 differ"
}
part 0 1 0-0
part 0 64 0-63
part 1 1 1-1
part 4095 4098 4095-8192
part 0 "$size" "0-$((size - 1))"
part 0 "$size" 0-99999999999
part 0 "$size" 0-99999999999999999999999
part 7 $((size - 7)) 7-
part $((size - 1)) 1 "$((size - 1))-"
part $((size - 1)) 1 -1
part $((size - 1000)) 1000 -1000
part 0 "$size" "-$((size + 1))"
for range in "$size-" "$size-$((size + 5))" 4294967296- 9223372036854775807- 99999999999999999999999- -0; do
    get 416 -r "$range" "$bundle"
    has "$head" "Content-Range: bytes */$size"
done
# Several, or not understood: all of it.
for range in bytes=0-0,5-5 bytes=5-4 bytes=x bytes=1 lines=1-2 bytes=; do
    get 200 -H "Range: $range" "$bundle"
    cmp -s body all || fail "not the whole for $range"
done
get 200 -H "Range: bytes=0-5" -H 'If-Range: "x"' "$bundle"
get 206 -I -r 5-9 "$bundle"
has "$head" "Content-Length: 5"
# Several requests on one connection.
same "$(curl -s -m 20 -r 3-9 -o one -o two -w '%{num_connects} ' "$bundle" "$bundle")" "1 0 "
cmp -s one two || fail "the second answer on a connection differs"

# ---- the token ----
answers=()
other=${query%?}$([ "${query: -1}" = 0 ] && echo 1 || echo 0)
for wrong in "" "?" "?t=" "?t" "?$other" "?${query%?}" "?${query}0" "?T=${query#t=}" "?$query&$query" "?$query&$other" \
    "?x=${query#t=}" "?t=%20${query#t=}"; do
    for path in / /bundle /nothing /../etc/passwd /favicon.ico; do
        get 403 "$base$path$wrong"
        answers+=("$(grep -v '^Date' <<<"$head")$(cat body)")
    done
done
# Without it nothing tells what exists from what does not.
same "$(printf '%s\0' "${answers[@]}" | sort -zu | tr -dc '\0' | wc -c)" 1
get 403 -H "Authorization: Bearer ${query#t=}" -H "Cookie: $query" "$base/"

# ---- addresses ----
for path in /index.html /bundle/ /bundle/x //bundle /./bundle /x/../bundle /%62undle /bundle%00 /Bundle /..%2fetc/passwd // \
    /../../../../etc/passwd /%2e%2e/%2e%2e/etc/passwd /etc/passwd /.htpasswd /bundle.gz /cgi-bin/x "/bundle;x" '/\..\etc' /proc/self/environ; do
    get 404 "$base$path?$query"
    lacks "$(cat body)" root:
done
# Whole addresses, as for a proxy: of others' machines or this one's files.
for target in http://example.org/ "http://127.0.0.1:$port/../etc/passwd" file:///etc/passwd '*' example.org:443; do
    answer=$(raw "GET $target?$query HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nConnection: close\r\n\r\n")
    lacks "$answer" "HTTP/1.1 2"
    lacks "$answer" root:
done

# ---- methods ----
for method in POST PUT DELETE OPTIONS PATCH PROPFIND MKCOL CONNECT LOCK; do
    for path in / /bundle /new; do
        get 405 -X $method "$base$path?$query"
        has "$head" "Allow: GET, HEAD"
        has "$head" "Connection: close"
    done
done
get 405 -d x=y "$address"
get 405 -T all "$base/new?$query"
get 413 -X GET -d x=y "$address"
for method in TRACE COPY FOO get 'GET\t'; do
    lacks "$(raw "$method /?$query HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nConnection: close\r\n\r\n")" "HTTP/1.1 2"
done
get 200 -H "Connection: Upgrade" -H "Upgrade: websocket" -H "Sec-WebSocket-Version: 13" -H "Sec-WebSocket-Key: eA==" "$address"
lacks "$head" "101"

# ---- SQL: what `ringscope sql` answers, and nothing else ----
ask() { get "$1" --data-binary "$2" "${@:3}" "$base/sql?$query"; } # STATUS QUERY CURL-ARGUMENT...
endless="WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) SELECT count(*) FROM a"
if [ "$sql" = on ]; then
    get 200 "$base/sql?$query"
    "$RINGSCOPE" sql --schema --json | cmp -s - body || fail "other tables than sql --schema"
    for text in "SELECT * FROM operations" "SELECT * FROM v_stragglers" "SELECT * FROM v_timeline LIMIT 1000" \
        "SELECT key, value FROM meta" "SELECT 1 WHERE 0"; do
        ask 200 "$text"
        lacks "$head" Ringscope-More-Rows
        "$RINGSCOPE" sql --json "$root/tests/data/h200-mix" "$text" 2>/dev/null | cmp -s - body || fail "other rows: $text"
    done
    ask 200 "SELECT id FROM events ORDER BY id"
    has "$head" "Ringscope-More-Rows: yes"
    same "$(wc -l <body)" 1000
    before=$(sha256sum tmp/ringscope-*/run.sqlite)
    for text in "DELETE FROM operations" "UPDATE meta SET value = 1" "DROP TABLE meta" "ATTACH 'x.db' AS x" "PRAGMA journal_mode = WAL" \
        "SELECT load_extension('x')" "VACUUM INTO '$TMP/x.db'" "CREATE TEMP TABLE x (y)" "SELECT 1; SELECT 2" "" "SELEC" \
        "SELECT nothing FROM meta" ".tables"; do
        ask 400 "$text"
        [ -s body ] || fail "no reason: $text"
    done
    same "$(sha256sum tmp/ringscope-*/run.sqlite) $(find . -name x.db)" "$before "
    same "$(stat -c %a tmp/ringscope-*)" 700
    ask 400 "SELECT hex(randomblob(100000000))" # a value larger than any answer
    get 200 -H "Origin: $base" --data-binary "SELECT 1" "$base/sql?$query"
    for wrong in "" "?" "?$other" "?$query&$query"; do
        get 403 --data-binary "SELECT 1" "$base/sql$wrong"
    done
    get 403 --data-binary "SELECT 1" "$base/nothing?$other"
    ask 403 "SELECT 1" -H "Host: evil.org"
    for origin in http://evil.org null "https://127.0.0.1:$port" "http://127.0.0.1:1"; do ask 403 "SELECT 1" -H "Origin: $origin"; done
    ask 405 "SELECT 1" -X PUT
    ask 400 "SELECT 1" -H "Transfer-Encoding: chunked"
    { printf 'SELECT 1 --'; head -c 65525 /dev/zero | tr '\0' x; } >longest
    ask 200 @longest
    printf x >>longest
    ask 413 @longest
    answer=$(raw "POST /sql?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 8\r\nContent-Length: 9\r\n\r\nSELECT 1")
    has "$answer" "HTTP/1.1 400"
    answer=$(raw "POST /sql?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 8\r\n\r\nSELECT 7GET /x?$query HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    has "$answer" '{"7":7}'
    has "$answer" "HTTP/1.1 404" # what follows a body is the next request
    # One at a time; the page is served meanwhile; and one that never ends is stopped.
    for i in 1 2 3 4 5; do
        curl -s -m 120 -o stopped -w '%{http_code}' --data-binary "$endless" "$base/sql?$query" >stopped.status &
        endless_pid=$!
        busy=
        while [ -z "$busy" ] && kill -0 "$endless_pid" 2>/dev/null; do
            [ "$(curl -s -m 120 -o body -w '%{http_code}' --data-binary 'SELECT 1' "$base/sql?$query")" = 503 ] && busy=yes
        done
        [ -z "$busy" ] || break
        wait "$endless_pid"
    done
    same "$busy: $(cat body)" "yes: another query is still running; try again when it has ended"
    get 206 -r 0-99 "$bundle"
    kill -0 "$endless_pid" 2>/dev/null || echo "the machine was too slow to see the page served meanwhile"
    wait "$endless_pid"
    same "$(cat stopped.status): $(cat stopped)" "400: the query was stopped after 2 s"
    # A client that leaves does not block the next one for longer than that.
    curl -s -m 0.3 -o /dev/null --data-binary "$endless" "$base/sql?$query"
    until [ "$(curl -s -m 120 -o body -w '%{http_code}' --data-binary 'SELECT 5' "$base/sql?$query")" = 200 ]; do sleep 0.1; done
    same "$(cat body)" '{"5":5}'
    same "$(ps -o stat= --ppid "$server" | awk '/Z/ { n++ } END { print n + 0 }')" 0
else
    get 404 "$base/sql?$query"
    get 405 --data-binary "SELECT 1" "$base/sql?$query"
fi

# ---- the host: a name that leads here is not enough ----
for host in evil.org "evil.org:$port" "127.0.0.1:x" "127.0.0.1:" "127.0.0.1.evil.org:$port" "0.0.0.0:$port"; do
    get 403 -H "Host: $host" "$address"
done
get 403 -0 -H "Host;" "$address"
# Any port: that of the other end of a tunnel.
for host in "localhost:$port" localhost:9000 127.0.0.1:1 127.0.0.1 "[::1]:9000"; do get 200 -H "Host: $host" "$address"; done
has "$(raw "GET /?$query HTTP/1.0\r\n\r\n")" "HTTP/1.1 403"
has "$(raw "GET /?$query HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nHost: evil.org\r\nConnection: close\r\n\r\n")" "HTTP/1.1 400"

# ---- requests that are none, too long, or never end ----
long=$(head -c 20000 /dev/zero | tr '\0' x)
get 400 "$address&$long"
get 400 -H "X-Long: $long" "$address"
for text in '\r\n\r\n' '\0\0\0\0\r\n\r\n' 'GET\r\n\r\n' 'GET / HTTP/9.9\r\n\r\n' '\x16\x03\x01\x02\x00\x01\x00\r\n\r\n' 'GET / HTTP/1.1 \r\n x\r\n\r\n'; do
    lacks "$(raw "$text")" "HTTP/1.1 2"
done
# Each of these alone is enough to get nothing, whatever else is right.
for text in "GET /?$query\r\n\r\n" "GET /?$query HTTP/1.1\nHost: 127.0.0.1\n\n\r\n\r\n" "GET  /?$query HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" \
    "GET /?$query HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n" "GET /?$query HTTP/1.1\r\n Host: 127.0.0.1\r\n\r\n" \
    "GET /?$query HTTP/1.1\r\nHost: 127.0.0.1\r\n x\r\n\r\n" "GET /?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nno colon\r\n\r\n" \
    "GET /?$query HTTP/1.1\r\nHost: 127.0.0.1\0.evil.org\r\n\r\n" "GET /\0?$query HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" \
    "GET /?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\rb\r\n\r\n" "GET /?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nX: \x01\r\n\r\n" \
    "GET /?$query HTTP/1.1x\r\nHost: 127.0.0.1\r\n\r\n" "GET /?$query HTTP/2.0\r\nHost: 127.0.0.1\r\n\r\n" \
    "GET /?$query HTTP/1.1\r\n\r\n" "GET /?$query HTTP/1.1\r\nHost:\r\n\r\n" "GET ?$query HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" \
    "GET /?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" \
    "GET /?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n12345" \
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"; do
    answer=$(raw "$text")
    lacks "$answer" "HTTP/1.1 2"
    lacks "$answer" "<div"
done
{
    printf 'X-Many: '
    head -c 1000000 /dev/zero | tr '\0' x
} >headers.long
get 400 -H @headers.long "$address"
same "$(stat -c %s body)" 0
# A body that is not read is not taken for the next request. (The answer may be lost: closing with bytes unread resets.)
lacks "$(raw "POST /?$query HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nContent-Length: 200\r\n\r\nGET /?$query HTTP/1.1\r\nHost: 127.0.0.1:$port\r\n\r\n" | grep -c '^HTTP/1.1')" 2
# Some say nothing, some stop in the middle of a request, some do not read what they asked for: others do not wait.
for i in 10 11 12 13 14 15 16 17 18 19; do
    eval "exec $i<>/dev/tcp/127.0.0.1/$port"
    case $((i % 3)) in
    1) printf 'GET /?%s HT' "$query" >&"$i" ;;
    2) printf 'GET /bundle?%s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$query" "$port" >&"$i" ;;
    esac
done
before=${EPOCHREALTIME/./}
get 206 -r 0-99 "$bundle"
[ $((${EPOCHREALTIME/./} - before)) -lt 20000000 ] || fail "held up by clients that stand still"

# ---- 50 at a time ----
for i in $(seq 50); do
    from=$((i * size / 60)) length=$((size / 70))
    echo "url = \"$bundle\""
    echo "range = \"$from-$((from + length - 1))\""
    echo "output = \"many.$i\""
    echo next
done | sed '$d' >list
curl -s -m 60 --no-progress-meter --parallel --parallel-immediate --parallel-max 50 -K list || fail "curl: $?"
for i in $(seq 50); do
    dd if=all of=want iflag=skip_bytes,count_bytes skip=$((i * size / 60)) count=$((size / 70)) status=none
    cmp -s "many.$i" want || fail "client $i of 50 got other bytes"
done

# ---- crowds: of those that never complete a request, that ask and never read, and of good clients ----
for many in 350 1000; do
    crowd hold $many
    at_once "among $many half-open connections"
    [ "$(find "/proc/$server/fd" -mindepth 1 | wc -l)" -lt 800 ] || fail "connections have no bound"
    leave
done
held=$(memory)
crowd deaf 300 "GET /bundle?$query HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
at_once "among 300 that do not read"
[ $(($(memory) - held)) -lt 100000 ] || fail "$held KB have become $(memory)"
leave
crowd get 500 "GET /bundle?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
wait $crowd
read -r good bytes ms <<<"$(tail -n 1 ready)"
same "$good" 500
[ "$bytes" -gt $((500 * size)) ] || fail "500 clients got $bytes bytes, in $ms ms"
ask="GET /bundle?$query HTTP/1.1\r\nHost: 127.0.0.1\r\nRange: bytes=0-9\r\n"
one=$(raw "${ask}Connection: close\r\n\r\n" | grep -v ^Connection | wc -c)
crowd pipeline 2000 "$ask\r\n"
wait $crowd
read -r good bytes ms <<<"$(tail -n 1 ready)"
crowd=
[ "$bytes" -ge $((2000 * one)) ] || fail "2000 requests on one connection: $bytes bytes, one has $one"
same $((bytes % 2000)) 0

# ---- this machine alone ----
for address in $(hostname -I 2>/dev/null); do
    [[ $address == *:* ]] && address="[$address]"
    same "$(curl -s -m 5 -o /dev/null -w '%{http_code}' "http://$address:$port/?$query")" 000
done

# ---- a port that is taken, signals, and what is left behind ----
timeout 300 "$RINGSCOPE" serve --port "$port" "$root/tests/data/h200-mix" >out 2>err
same "$?" 1
has "$(cat err)" "port $port of 127.0.0.1: Address already in use"
same "$(cat out)" ""
before=${EPOCHREALTIME/./} # with connections open that stand still, and a query that runs
query_pid=
if [ "$sql" = on ]; then
    curl -s -m 120 -o /dev/null --data-binary "$endless" "$base/sql?$query" &
    query_pid=$!
    child=
    until child=$(ps -o pid= --ppid $server) && [ -n "$child" ]; do sleep 0.02; done
fi
stop TERM
[ -z "$query_pid" ] || ! kill -0 "$child" 2>/dev/null || fail "the query outlives the server"
wait $query_pid
same "$ended $(grep -c Sanitizer said)" "0 0"
[ $((${EPOCHREALTIME/./} - before)) -lt 20000000 ] || fail "took long to end"
for i in 10 11 12 13 14 15 16 17 18 19; do eval "exec $i<&- $i>&-"; done
same "$(ls tmp)" ""
first=$query

files=$(ulimit -Sn)
ulimit -Sn 256
SSH_CONNECTION="10.0.0.1 50000 10.0.0.2 2222" start --port "$port" --rank 0 # the same port again, at once
ulimit -Sn "$files"
[ "$query" != "$first" ] || fail "the same token twice"
same "$(grep -n -- "-p 2222 " said | cut -d: -f1)" 3
get 403 "$base/?$first"
get 200 "$address"
crowd hold 350 # more than it may open files
at_once "where few files may be open"
leave
stop KILL
same "$(ls tmp)" ""

# ---- --open: what a program is started with, everybody can read ----
mkdir -m 700 bin run
cat >bin/xdg-open <<'END'
#!/bin/bash
printf '%s\n' "$@" >"$TMP/argv"
env >"$TMP/environment"
stat -c %a "$1" "${1%/*}" >"$TMP/modes"
url=$(sed -n 's/.*url=\([^"]*\)".*/\1/p' "$1")
[ -e "$TMP/silent" ] || curl -s -m 20 -o "$TMP/opened" "$url"
touch "$TMP/seen"
END
chmod +x bin/xdg-open
PATH=$TMP/bin:$PATH XDG_RUNTIME_DIR=$TMP/run start --open
until [ -e seen ]; do sleep 0.05; done
same "$(wc -l <argv)" 1
same "$(tr '\n' ' ' <modes)" "600 700 "
same "$(grep -c '<div id="app">' opened)" 1
for file in argv environment said /proc/$server/cmdline /proc/$server/environ /proc/$server/comm; do
    lacks "$(tr '\0' ' ' <"$file")" "${query#t=}"
done
for ((i = 0; i < 200; i++)); do
    [ -n "$(ls run)" ] || break
    sleep 0.05
done
same "$(ls run tmp)" $'run:\n\ntmp:' # it was used, and is gone
get 200 "$address"
stop TERM
same "$ended $(grep -c Sanitizer said)" "0 0"
# A browser that never asks, and a folder for the session that others can look into: the file goes at the end.
touch silent
rm seen
chmod 755 run
PATH=$TMP/bin:$PATH XDG_RUNTIME_DIR=$TMP/run start --open
until [ -e seen ]; do sleep 0.05; done
same "$(find tmp run -name '*.html' | cut -d/ -f1)" tmp
stop TERM
same "$(ls run tmp)" $'run:\n\ntmp:'

timeout 300 "$RINGSCOPE" serve --port 65536 x >out 2>err
same "$?" 2
timeout 300 "$RINGSCOPE" serve >out 2>err
same "$?" 2
timeout 300 "$RINGSCOPE" serve nothing-here >out 2>err
same "$?" 1
same "$(cat out)" ""
[ $fails = 0 ]
