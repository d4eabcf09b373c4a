/* All tables of output fields. */
#ifndef RS_FIELDS_TABLES_H
#define RS_FIELDS_TABLES_H

#include "fields/field.h"

extern const struct rs_out_table rs_out_operation, rs_out_op_rank, rs_out_event, rs_out_process, rs_out_communicator,
    rs_out_member, rs_out_clock, rs_out_straggler, rs_out_lateness, rs_out_network, rs_out_slow_link, rs_out_function;
extern const struct rs_out_table rs_out_run, rs_out_coverage, rs_out_gap, rs_out_setting, rs_out_setting_value,
    rs_out_input, rs_out_damage, rs_out_note, rs_out_init, rs_out_steps, rs_out_outlier_step, rs_out_course,
    rs_out_change, rs_out_reference_file, rs_out_reference_point, rs_out_statistics, rs_out_stat_process,
    rs_out_stat_operation, rs_out_stat_call, rs_out_stat_range, rs_out_stat_kernel, rs_out_stat_cell, rs_out_overlap,
    rs_out_host_call, rs_out_annotation, rs_out_critical, rs_out_critical_row, rs_out_critical_segment;

/* The tables one by one; NULL behind the last. */
const struct rs_out_table *rs_out_table(size_t index);

#endif
