/* What shell completion asks: `ringscope COMMAND --complete`, one line per option with tabs between (completions/):
 * its name, its letter, its argument, the values that it may have, and its help; "-" where there is none. Prints to
 * stdout. */
#ifndef RS_CLI_VALUES_H
#define RS_CLI_VALUES_H

#include "cli/options/opt.h"

void rs_values_print(const struct rs_opt *opts);

#endif
