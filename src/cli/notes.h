/* What is printed on stderr besides the output: notes of the model, and files that could not be read to their end.
 *
 * A job has as many files as ranks, and most notes are true of all of them: those that differ in the file and in
 * numbers alone are printed once, with the first file and their number. `ringscope info` prints each. */
#ifndef RS_CLI_NOTES_H
#define RS_CLI_NOTES_H

#include "model/model.h"
#include "trace/inputs.h"

/* Texts that begin with "PATH: " of one of the inputs' other files are grouped, the rest is printed as it is. `all`: each
 * separately. */
void rs_notes_say(const char *command, const struct rs_inputs *inputs, const struct rs_model *model, bool all);

/* The same for files that are not read at all. */
void rs_notes_say_unreadable(const char *command, const struct rs_inputs *inputs, bool all);

/* The same for what stopped the reading of other tools' files. */
void rs_notes_say_damage(const char *command, const struct rs_inputs *inputs, bool all);

#endif
