/* What fills the model from each format of other tools; called by formats.c alone. See formats.h for the contract.
 *
 * X_fill.c goes over all files of a format. X.h reads one into plain structs, and X_model.h (of Kineto, which is read
 * into rows: kineto/parts.h and its neighbours) puts these into the model. */
#ifndef RS_FOREIGN_FILLS_H
#define RS_FOREIGN_FILLS_H

#include "foreign/formats.h"

bool rs_kineto_is(const char *path, const char *head, size_t n);
bool rs_nsys_is(const char *path, const char *head, size_t n);

enum rs_status rs_nsys_fill(struct rs_fill *fill, struct rs_err *err);
enum rs_status rs_flight_fill(struct rs_fill *fill, struct rs_err *err);
enum rs_status rs_kineto_fill(struct rs_fill *fill, struct rs_err *err);
enum rs_status rs_example_fill(struct rs_fill *fill, struct rs_err *err);
enum rs_status rs_inspector_fill(struct rs_fill *fill, struct rs_err *err);
enum rs_status rs_comma_fill(struct rs_fill *fill, struct rs_err *err);
enum rs_status rs_ncclsee_fill(struct rs_fill *fill, struct rs_err *err);
enum rs_status rs_nvprof_fill(struct rs_fill *fill, struct rs_err *err);
enum rs_status rs_nccl_tests_fill(struct rs_fill *fill, struct rs_err *err);

#endif
