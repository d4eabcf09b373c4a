/* Numbers of the fields of a Perfetto trace that are written here, message by message, as Perfetto's public .proto
 * files have them (protos/perfetto/trace). tests/data/perfetto.proto says the same to protoc. */
#ifndef RS_EXPORT_PERFETTO_FIELDS_H
#define RS_EXPORT_PERFETTO_FIELDS_H

/* Trace */
enum { PF_TRACE_PACKET = 1 };

/* TracePacket */
enum {
    PF_PACKET_CLOCK_SNAPSHOT = 6,
    PF_PACKET_TIMESTAMP = 8,
    PF_PACKET_SEQUENCE_ID = 10, /* trusted_packet_sequence_id */
    PF_PACKET_TRACK_EVENT = 11,
    PF_PACKET_INTERNED_DATA = 12,
    PF_PACKET_SEQUENCE_FLAGS = 13,
    PF_PACKET_DEFAULTS = 59, /* trace_packet_defaults */
    PF_PACKET_TRACK_DESCRIPTOR = 60,
};
enum { PF_STATE_CLEARED = 1, PF_NEEDS_STATE = 2 }; /* sequence_flags */

/* TracePacketDefaults */
enum { PF_DEFAULTS_TRACK_EVENT = 11, PF_DEFAULTS_CLOCK = 58 };

/* TrackEventDefaults, TrackEvent */
enum {
    PF_EVENT_CATEGORY_IIDS = 3,
    PF_EVENT_DEBUG_ANNOTATIONS = 4,
    PF_EVENT_TYPE = 9,
    PF_EVENT_NAME_IID = 10,
    PF_EVENT_TRACK_UUID = 11,
    PF_EVENT_CATEGORIES = 22,
    PF_EVENT_NAME = 23,
    PF_EVENT_COUNTER_VALUE = 30,
    PF_EVENT_FLOW_IDS = 47,
    PF_EVENT_TERMINATING_FLOW_IDS = 48,
    PF_EVENT_CORRELATION_ID = 52,
};
enum { PF_SLICE_BEGIN = 1, PF_SLICE_END = 2, PF_INSTANT = 3, PF_COUNTER = 4 }; /* type */

/* DebugAnnotation */
enum {
    PF_NOTE_NAME_IID = 1,
    PF_NOTE_BOOL = 2,
    PF_NOTE_UINT = 3,
    PF_NOTE_INT = 4,
    PF_NOTE_POINTER = 7,
    PF_NOTE_STRING_IID = 17,
};

/* InternedData, and of each row: iid, name (str) */
enum { PF_INTERNED_CATEGORIES = 1, PF_INTERNED_NAMES = 2, PF_INTERNED_NOTE_NAMES = 3, PF_INTERNED_STRINGS = 29 };
enum { PF_ROW_IID = 1, PF_ROW_NAME = 2 };

/* ClockSnapshot and its Clock */
enum { PF_SNAPSHOT_CLOCKS = 1, PF_SNAPSHOT_PRIMARY = 2 };
enum { PF_CLOCK_ID = 1, PF_CLOCK_TIMESTAMP = 2, PF_CLOCK_INCREMENTAL = 3 };
enum { PF_REALTIME = 1, PF_BOOTTIME = 6, PF_OWN_CLOCK = 64 }; /* 64 and above are a sequence's own */

/* TrackDescriptor */
enum {
    PF_TRACK_UUID = 1,
    PF_TRACK_NAME = 2,
    PF_TRACK_PROCESS = 3,
    PF_TRACK_THREAD = 4,
    PF_TRACK_PARENT = 5,
    PF_TRACK_COUNTER = 8,
    PF_TRACK_CHILD_ORDERING = 11,
    PF_TRACK_RANK = 12, /* sibling_order_rank */
    PF_TRACK_DESCRIPTION = 14,
    PF_TRACK_MERGE = 15, /* sibling_merge_behavior */
    PF_TRACK_PROCESS_ORDERING = 19,
    PF_TRACK_THREAD_ORDERING = 20,
};
enum { PF_CHILDREN_EXPLICIT = 3, PF_ROWS_EXPLICIT = 1 }; /* child_ordering; process_ordering, thread_ordering */
enum { PF_MERGE_NONE = 2 }; /* sibling_merge_behavior: else tracks of one name are drawn as one */

/* ProcessDescriptor, ThreadDescriptor, CounterDescriptor */
enum { PF_PROCESS_PID = 1, PF_PROCESS_SORT = 3, PF_PROCESS_NAME = 6, PF_PROCESS_LABELS = 8 };
enum { PF_THREAD_PID = 1, PF_THREAD_TID = 2, PF_THREAD_NAME = 5 };
enum { PF_COUNTER_UNIT = 3 };
enum { PF_UNIT_COUNT = 2, PF_UNIT_BYTES = 3 };

#endif
