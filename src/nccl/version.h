/* NCCL's version number as text. */
#ifndef RS_NCCL_VERSION_H
#define RS_NCCL_VERSION_H

#include <stddef.h>
#include <stdio.h>

/* 22809 -> "2.28.9", and before 2.9 2804 -> "2.8.4". */
static inline void rs_nccl_version_text(int version, char *text, size_t bytes)
{
    int unit = version >= 10000 ? 10000 : 1000;
    snprintf(text, bytes, "%d.%d.%d", version / unit, version % unit / 100, version % 100);
}

#endif
