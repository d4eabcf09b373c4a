/* The stack of a pickle that is being read, its operands, and the values that it pushes.
 *
 * Only for pickle.c, which knows the opcodes. What is asked for beyond the bytes, the stack or the memory fails with a
 * message; nothing recurses. */
#ifndef RS_FOREIGN_FLIGHT_PICKLE_MACHINE_H
#define RS_FOREIGN_FLIGHT_PICKLE_MACHINE_H

#include "base/map.h"
#include "foreign/flight/pickle.h"

enum { RS_PICKLE_MOST_MARKS = 1000 };

struct rs_pickle_machine {
    const uint8_t *bytes;
    size_t n, at, op_at; /* op_at: where the opcode stands that is being done */
    struct rs_value_builder build;
    struct rs_value **stack;
    uint32_t top, cap;
    uint32_t marks[RS_PICKLE_MOST_MARKS], n_marks; /* each the height of the stack where it was set */
    struct rs_map memo; /* number -> value */
    struct rs_value *none, *yes, *no;
    const char *path;
    struct rs_err *err;
};

extern const char rs_pickle_cut[]; /* why: the bytes end here */

enum rs_status rs_pickle_bad(const struct rs_pickle_machine *m, const char *why);
const uint8_t *rs_pickle_operand(struct rs_pickle_machine *m, uint64_t n);
bool rs_pickle_number(struct rs_pickle_machine *m, unsigned bytes, uint64_t *v);
const char *rs_pickle_line(struct rs_pickle_machine *m, size_t *n);
enum rs_status rs_pickle_push(struct rs_pickle_machine *m, struct rs_value *v);
uint32_t rs_pickle_above(const struct rs_pickle_machine *m);
enum rs_status rs_pickle_unmark(struct rs_pickle_machine *m, uint32_t *from);
enum rs_status rs_pickle_fill(struct rs_pickle_machine *m, uint32_t from, enum rs_value_kind kind);
enum rs_status rs_pickle_gather(struct rs_pickle_machine *m, uint32_t from, enum rs_value_kind kind);
enum rs_status rs_pickle_tag(struct rs_pickle_machine *m, uint32_t n);
enum rs_status rs_pickle_push_name(struct rs_pickle_machine *m, const char *module, size_t n, const char *name,
                                   size_t name_n);
enum rs_status rs_pickle_push_int(struct rs_pickle_machine *m, int64_t i);
enum rs_status rs_pickle_push_double(struct rs_pickle_machine *m, double d);
enum rs_status rs_pickle_counted_text(struct rs_pickle_machine *m, unsigned bytes);
enum rs_status rs_pickle_counted_int(struct rs_pickle_machine *m, unsigned bytes);
enum rs_status rs_pickle_line_number(struct rs_pickle_machine *m, bool real);
enum rs_status rs_pickle_line_text(struct rs_pickle_machine *m, bool quoted);
enum rs_status rs_pickle_too_much(const struct rs_pickle_machine *m);

#endif
