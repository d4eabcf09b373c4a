/* The fields of the tables of nccl-tests that `report --reference` reads. */
#ifndef RS_FIELDS_REFERENCE_H
#define RS_FIELDS_REFERENCE_H

#include "fields/field.h"

struct rs_reference_file_row {
    const char *path;
    uint64_t rows, unnamed;
    bool complete;
};

#endif
