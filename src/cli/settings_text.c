#include "cli/settings_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/plain.h"

void rs_settings_json(struct rs_json *j, const struct rs_differences *d)
{
    rs_json_key(j, "settings_that_differ");
    rs_json_array(j);
    for (size_t i = 0; i < d->n; i++) {
        rs_json_object(j);
        rs_json_key_str(j, "name", d->settings[i].name);
        rs_json_key(j, "values");
        rs_json_array(j);
        for (size_t k = 0; k < d->settings[i].nvalues; k++) {
            const struct rs_setting_value *v = &d->settings[i].values[k];
            rs_json_object(j);
            rs_json_key_str(j, "value", v->value);
            rs_json_key_u64(j, "processes", v->processes);
            rs_json_key(j, "example");
            rs_json_object(j);
            rs_json_key_str(j, "host", v->example->recording->header.host);
            rs_json_key_u64(j, "pid", v->example->recording->header.pid);
            rs_json_end(j);
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_settings_print(const struct rs_differences *d)
{
    if (!d->n) return;
    printf("\nsettings that differ between processes\n");
    for (size_t i = 0; i < d->n; i++) {
        const struct rs_setting *s = &d->settings[i];
        printf("  %s:", s->name);
        for (size_t k = 0; k < s->nvalues && k < 4; k++) {
            const char *value = s->values[k].value ? s->values[k].value : "(not set)";
            printf("%s ", k ? "," : "");
            rs_plain_print(value, strlen(value), stdout);
            printf(" on %zu (e.g. %s, pid %" PRIu32 ")", s->values[k].processes,
                   s->values[k].example->recording->header.host, s->values[k].example->recording->header.pid);
        }
        if (s->nvalues > 4) printf(" and %zu other values", s->nvalues - 4);
        printf("\n");
    }
}
