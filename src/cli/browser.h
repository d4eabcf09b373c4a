/* Opens an address with a secret in it in the browser of this machine.
 *
 * What a program is started with, everybody on the machine can read. So the browser is given the name of a file that
 * only this user can read, with a page in it that leads to the address. */
#ifndef RS_CLI_BROWSER_H
#define RS_CLI_BROWSER_H

#include <limits.h>

#include "base/err.h"

struct rs_browser {
    char folder[PATH_MAX + 20], file[PATH_MAX + 40]; /* empty: there is none */
};

/* Writes the file, in a new folder in XDG_RUNTIME_DIR or else `temporary`, and starts xdg-open with its name. The file
 * is there until rs_browser_forget(), which is to be called in any case. */
enum rs_status rs_browser_open(struct rs_browser *b, const char *address, const char *temporary, struct rs_err *err);
void rs_browser_forget(struct rs_browser *b);

#endif
