#include "fields/reference.h"

#include "analyse/reference.h"
#include "fields/rows.h"

#define RS_ROW struct rs_reference_file_row
#define RS_GET(id) file_##id
#define FIELD_AS RS_GETTER
#include "fields/reference_file.inc"
#undef FIELD_AS
#define FIELD_AS RS_FIELD
/* clang-format off */
static const struct rs_out_field reference_file[] = {
#include "fields/reference_file.inc"
};
/* clang-format on */
#undef FIELD_AS
#undef RS_GET
#undef RS_ROW

const struct rs_out_table rs_out_reference_file = {"reference file",
                                                   "report --json: reference.files[]",
                                                   reference_file,
                                                   sizeof reference_file / sizeof *reference_file,
                                                   NULL,
                                                   NULL};

#define RS_ROW struct rs_reference_point
#define RS_GET(id) point_##id
#define FIELD_AS RS_GETTER
#include "fields/reference_point.inc"
#undef FIELD_AS
#define FIELD_AS RS_FIELD
/* clang-format off */
static const struct rs_out_field reference_point[] = {
#include "fields/reference_point.inc"
};
/* clang-format on */
#undef FIELD_AS
#undef RS_GET
#undef RS_ROW

const struct rs_out_table rs_out_reference_point = {"reference point",
                                                    "report --json: reference.points[]",
                                                    reference_point,
                                                    sizeof reference_point / sizeof *reference_point,
                                                    NULL,
                                                    NULL};
