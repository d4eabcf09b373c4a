# Perfetto packets as `protoc --decode` prints them -> a line of JSON a slice, counter value, flag and track, with names
# resolved and times in ns from the begin. Says "error" where a packet is not what Perfetto's importer asks for:
# - a packet that needs its sequence's state comes behind the one that begins it; interned numbers are told once, before use;
# - a snapshot names each clock once, has the trace's clock and does not set it back; a sequence's own clock is incremental;
#   the first snapshot names the clock of the trace, and nothing has a time before it;
# - a track is described once and before its events, its parent before it; ids of processes and threads are told apart;
# - slices of a track end in the order in which they lie in each other, and all of them end; times do not fall;
# - a counter's value is on a counter's track, slices and flags are not; each event has a type and a track.
# What the ends of flows must be is for who reads this: the order of all slices is needed. ids of 64 bits come as texts:
# neither awk nor jq holds them.

function fail(what) { printf "{\"error\":\"%s, packet %d\"}\n", what, packets }
function text(s) {
    sub(/^[a-z_]*: /, "", s)
    gsub(/\\[0-7][0-7][0-7]/, "?", s)
    gsub(/\\'/, "'", s)
    return s
}
function interned(table, iid) {
    if (!(flags % 4 >= 2)) fail("a name without the flag")
    if (!((seq, state[seq], table, iid) in names)) { fail(table " " iid " is not interned"); return "\"?\"" }
    return names[seq, state[seq], table, iid]
}
function tell(table) {
    if (!state[seq]) fail("interned before the state")
    if (iid == "" || iid == 0 || (seq, state[seq], table, iid) in names) fail(table " " iid " twice")
    names[seq, state[seq], table, iid] = label
}
function or_null(s) { return s == "" ? "null" : s }

/^packet \{/ {
    packets++
    depth = 1; path[1] = "packet"
    seq = flags = 0; stamp = type = track = ""
    category = name = args = begins = ends = correlation = value = key = ""
    uuid = parent = tname = tprocess = tthread = tpid = unit = rank = default_track = default_clock = primary = ""
    delete clock_at; nclocks = 0; own = ""
    next
}
/^ *[0-9]+(:| \{)/ { fail("an unknown field: " $1) }
/\{$/ {
    depth++
    path[depth] = $1
    if ($1 == "debug_annotations") key = value = ""
    if ($1 == "clocks") { clock = ""; at = incremental = 0 }
    if (path[depth - 1] == "interned_data") { iid = ""; label = "\"\"" }
    next
}
/^ *\}$/ {
    here = path[depth--]
    if (here == "debug_annotations") args = args (args == "" ? "" : ",") key ":" value
    else if (here == "clocks") {
        if (clock in clock_at) fail("a clock twice")
        clock_at[clock] = at; nclocks++
        if (clock >= 64 && clock < 128) { own = clock; if (!incremental) fail("a sequence's clock that is not incremental") }
        else if (incremental) fail("an incremental clock of all")
    } else if (path[depth] == "interned_data") tell(here)
    else if (here == "packet") packet()
    next
}
{
    where = path[depth]
    if (where == "packet") {
        if ($1 == "timestamp:") stamp = $2
        else if ($1 == "trusted_packet_sequence_id:") seq = $2
        else if ($1 == "sequence_flags:") flags = $2
    } else if (where == "track_event") {
        if ($1 == "type:") type = $2
        else if ($1 == "category_iids:") category = $2
        else if ($1 == "name_iid:") name = $2
        else if ($1 == "name:") name = text(substr($0, depth * 2 + 1))
        else if ($1 == "track_uuid:") track = $2
        else if ($1 == "counter_value:") value = $2
        else if ($1 == "flow_ids:") begins = begins (begins == "" ? "" : ",") "\"" $2 "\""
        else if ($1 == "terminating_flow_ids:") ends = ends (ends == "" ? "" : ",") "\"" $2 "\""
        else if ($1 == "correlation_id:") correlation = $2
    } else if (where == "debug_annotations") {
        if ($1 == "name_iid:") key = "K" $2
        else if ($1 == "string_value_iid:") value = "S" $2
        else if ($1 == "pointer_value:") value = "\"" $2 "\""
        else value = $2
    } else if (where == "track_event_defaults") default_track = $2
    else if (where == "trace_packet_defaults") default_clock = $2
    else if (where == "clock_snapshot") primary = $2
    else if (where == "clocks") {
        if ($1 == "clock_id:") clock = $2
        else if ($1 == "timestamp:") at = $2
        else if ($1 == "is_incremental:") incremental = 1
    } else if (path[depth - 1] == "interned_data") {
        if ($1 == "iid:") iid = $2
        else label = text(substr($0, depth * 2 + 1))
    } else if (where == "track_descriptor") {
        if ($1 == "uuid:") uuid = $2
        else if ($1 == "parent_uuid:") parent = $2
        else if ($1 == "sibling_order_rank:") rank = $2
        else if ($1 == "name:") tname = text(substr($0, depth * 2 + 1))
    } else if (where == "process") {
        if ($1 == "pid:") tprocess = $2
        else if ($1 == "process_name:") tname = text(substr($0, depth * 2 + 1))
    } else if (where == "thread") {
        if ($1 == "tid:") tthread = $2
        else if ($1 == "pid:") tpid = $2
        else if ($1 == "thread_name:") tname = text(substr($0, depth * 2 + 1))
    } else if (where == "counter" && $1 == "unit:") unit = $2
}

# protoc prints fields by number, and so interned data (12) before the flag (13) that begins a state: such a packet has none.
function packet() {
    if (!seq) fail("no sequence")
    if (flags % 2) state[seq]++
    else if (flags >= 2 && !state[seq]) fail("a packet before its sequence's state")
    if (default_track != "") {
        if (!state[seq]) fail("defaults before the state")
        tracks[seq] = default_track
        clocks[seq] = default_clock
    }
    if (nclocks) snapshot()
    if (uuid != "") describe()
    if (stamp != "" && base == "") fail("a time before the clock")
    if (type != "") event()
    else if (!nclocks && uuid == "") fail("a packet of nothing")
}

function snapshot() {
    if (!(6 in clock_at)) { fail("a snapshot without the trace's clock"); return }
    if (base == "") {
        base = clock_at[6]
        if (primary != 6 || clock_at[1] != base) fail("a first snapshot that does not tie wall time to the trace's clock")
    } else if (clock_at[6] != base) fail("another begin")
    if (own == "") return
    if (clock_at[own] != 0) fail("a sequence's clock that does not begin at 0")
    if (clocks[seq] != own) fail("a clock that no event shows")
    last[seq] = 0
    ticks[seq] = 1
}

function describe() {
    if (uuid in known) fail("a track twice")
    known[uuid] = tprocess != "" ? "process" : tthread != "" ? "thread" : unit != "" ? "counter" : "track"
    if (parent != "" && !(parent in known)) fail("a track before its parent")
    if (uuid != 0 && (rank == "" || tname == "")) fail("a track without a name or place")
    if (tprocess != "") { if (tprocess in ids || tprocess < 1) fail("a process id twice"); ids[tprocess] = 1 }
    if (tthread != "") {
        if (!(tpid in ids)) fail("a thread of no process")
        if (tthread in ids) fail("a thread id twice")
        ids[tthread] = 1
    }
    printf "{\"track\":%s,\"parent\":%s,\"name\":%s,\"process\":%s,\"thread\":%s,\"pid\":%s,\"unit\":%s}\n", uuid,
        or_null(parent), or_null(tname), or_null(tprocess), or_null(tthread), or_null(tpid), or_null(unit)
}

function event(    n, i, list, pair, all, top) {
    if (stamp == "") fail("an event without a time")
    if (type == "TYPE_INSTANT") {
        if (!(track in known) || known[track] == "counter") fail("a flag on no track")
        if (tracks[seq] != "" || length(stamp) < length(base) || (length(stamp) == length(base) && stamp "" < base "")) fail("a flag before the begin")
        printf "{\"flag\":%s,\"on\":%s}\n", name, track
        return
    }
    if (track == "") track = tracks[seq]
    if (!(track in known)) { fail("an event on no track"); return }
    if (!ticks[seq]) fail("an event before its clock")
    last[seq] += stamp
    if (last[seq] < latest[track]) fail("a time that falls")
    latest[track] = last[seq]
    if ((type == "TYPE_COUNTER") != (known[track] == "counter")) fail(type " on a track of another kind")
    top = opened[track] + 0
    if (type == "TYPE_SLICE_BEGIN") {
        all = ""
        n = split(args, list, ",")
        for (i = 1; i <= n; i++) {
            split(list[i], pair, ":")
            if (pair[2] == "") fail("an argument without a value")
            if (pair[2] ~ /^S/) pair[2] = interned("debug_annotation_string_values", substr(pair[2], 2))
            all = all (i > 1 ? "," : "") interned("debug_annotation_names", substr(pair[1], 2)) ":" pair[2]
        }
        begun[track, top] = last[seq]
        said[track, top] = sprintf("\"slice\":%s,\"cat\":%s,\"start\":%.0f,\"depth\":%d,\"args\":{%s},\"flows\":[%s],\"ends\":[%s],\"operation\":%s",
            interned("event_names", name), interned("event_categories", category), last[seq], top, all, begins, ends, or_null(correlation))
        opened[track] = top + 1
    } else if (type == "TYPE_SLICE_END") {
        if (top == 0) { fail("an end without a begin"); return }
        top--
        printf "{%s,\"dur\":%.0f,\"on\":%s}\n", said[track, top], last[seq] - begun[track, top], track
        opened[track] = top
    } else if (type == "TYPE_COUNTER") {
        if (value == "" || value ~ /^-/) fail("a counter without a value")
        printf "{\"counter\":%s,\"at\":%.0f,\"value\":%s}\n", track, last[seq], value
    } else fail("type " type)
}
END {
    for (t in opened) if (opened[t]) fail("a slice that does not end on track " t)
    printf "{\"base\":\"%s\",\"packets\":%d}\n", base, packets
}
