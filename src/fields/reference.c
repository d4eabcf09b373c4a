#include "fields/reference.h"

#include "analyse/reference.h"

#define RS_ROWS_FILE "fields/reference_file.inc"
#define RS_ROW struct rs_reference_file_row
#define RS_GET(id) file_##id
#define RS_FIELDS static const struct rs_out_field reference_file[]
#include "fields/table.inc"

const struct rs_out_table rs_out_reference_file = {"reference file",
                                                   "report --json: reference.files[]",
                                                   reference_file,
                                                   sizeof reference_file / sizeof *reference_file,
                                                   NULL,
                                                   NULL};

#define RS_ROWS_FILE "fields/reference_point.inc"
#define RS_ROW struct rs_reference_point
#define RS_GET(id) point_##id
#define RS_FIELDS static const struct rs_out_field reference_point[]
#include "fields/table.inc"

const struct rs_out_table rs_out_reference_point = {"reference point",
                                                    "report --json: reference.points[]",
                                                    reference_point,
                                                    sizeof reference_point / sizeof *reference_point,
                                                    NULL,
                                                    NULL};
