/* The format: tables of ncclsee; its names, and what a file contains and does not. */
#include "foreign/contents.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"CollectiveType", "column", "Function, or Group for group calls."},
    {"BucketLabel", "column", "Range of sizes in words."},
    {"BucketMin", "column", "Smallest size of the row, bytes."},
    {"BucketMax", "column", "Largest size of the row, bytes."},
    {"Calls", "column", "How often it was called."},
    {"BytesTransferred", "column", "Bytes of all these calls together."},
    {"TotalTime_us", "column",
     "Their time on the host together, us: the call, which may return before the work is done."},
};

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    RS_MISSING(f, "A time axis, communicators and ranks: it sums calls and host time by function and size.");
    return RS_OK;
}

const struct rs_format rs_ncclsee_format = {
    .what = "ncclsee CSV",
    .tool = RS_TOOL_NCCLSEE,
    .holds =
        "Calls, bytes and host time by function and size. Not: when, on which communicator, or how long the GPU took.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_ncclsee_is,
    .fill = rs_ncclsee_fill,
    .missing = missing,
};
