#!/bin/bash
# Every member of every event of every version comes back with the value that was given, and so do calls that no careful
# caller would make.
# sanitizers: address, thread
# shellcheck source=tests/drive/lib.sh
source "$(dirname "$0")/../drive/lib.sh"

# compare NAME: what the driver says that it passed, against what is read.
compare() {
    grep '^0' "$1.out" | sort >"$1.want"
    "$VERIFY" --dump "$1"/*.rsc >"$1.got" 2>"$1.wrong" || fail "$1: $(head -n 3 "$1.wrong")"
    sort -o "$1.got" "$1.got"
    [ -s "$1.want" ] || fail "$1: nothing was played"
    cmp -s "$1.want" "$1.got" || fail "$1: $(diff "$1.want" "$1.got" | head -n 10)"
}

rounds=40
[ -z "${SAN:-}" ] || rounds=8
for api in 1 2 3 4 5 6 7; do
    for net in mixed ib sock; do
        name=fields.$api.$net
        drive "$name" --mode fields --api "$api" --rounds "$rounds" --seed "$((api * 31))" --net "$net"
        compare "$name"
    done
    drive "hazards.$api" --mode hazards --api "$api"
    compare "hazards.$api"
done

# Without a hardware counter, and while buffers change hands all the time, the slow path writes the same.
drive slow RINGSCOPE_MEMORY=4M --mode fields --rounds "$rounds" --seed 3
compare slow

# What init was told.
"$VERIFY" fields.7.ib/*.rsc >fields.7.ib.seen
same "$(seen fields.7.ib comm)" "7 0xfeedbeef 5/16 on 2 named driven" comm
"$VERIFY" fields.4.ib/*.rsc >fields.4.ib.seen
same "$(seen fields.4.ib comm)" "4 0xfeedbeef 5/16 on 2 named driven" comm
"$VERIFY" fields.3.ib/*.rsc >fields.3.ib.seen
same "$(seen fields.3.ib comm)" "3 0x0 -1/-1 on -1 nameless" comm
finish
