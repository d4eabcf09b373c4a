#include "cli/settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "cli/print/screen.h"
#include "fields/info.h"

void rs_settings_json(struct rs_json *j, const struct rs_differences *d)
{
    rs_json_key(j, "settings_that_differ");
    rs_json_array(j);
    for (size_t i = 0; i < d->n; i++) {
        const struct rs_setting *s = &d->settings[i];
        struct rs_setting_value_row *values = rs_zalloc(s->nvalues, sizeof *values);
        for (size_t k = 0; k < s->nvalues; k++) {
            const struct rs_file_header *example = &s->values[k].example->recording->header;
            values[k] =
                (struct rs_setting_value_row){s->values[k].value, example->host, s->values[k].processes, example->pid};
        }
        rs_out_json(j, &rs_out_setting, &(struct rs_setting_row){s->name, values, s->nvalues});
        free(values);
    }
    rs_json_end(j);
}

void rs_settings_print(const struct rs_differences *d)
{
    if (!d->n) return;
    rs_screen_print("\nsettings that differ between processes\n");
    for (size_t i = 0; i < d->n; i++) {
        const struct rs_setting *s = &d->settings[i];
        rs_screen_print("  %s:", s->name);
        for (size_t k = 0; k < s->nvalues && k < 4; k++) {
            const char *value = s->values[k].value ? s->values[k].value : "(not set)";
            rs_screen_print("%s ", k ? "," : "");
            rs_screen_print("%s", value);
            rs_screen_print(" on %zu (e.g. %s, pid %" PRIu32 ")", s->values[k].processes,
                            s->values[k].example->recording->header.host, s->values[k].example->recording->header.pid);
        }
        if (s->nvalues > 4) rs_screen_print(" and %zu other values", s->nvalues - 4);
        rs_screen_print("\n");
    }
}
