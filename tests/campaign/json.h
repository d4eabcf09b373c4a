/* A strict reader of JSON (RFC 8259): the campaign's own, so that ringscope's is not its own witness. */
#ifndef RS_CAMPAIGN_JSON_H
#define RS_CAMPAIGN_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char type; /* { [ " 0 (a number) t f n */
    const char *key, *text; /* without quotes, escapes as they stand; not ended */
    size_t key_bytes, text_bytes;
    struct json *first, *next; /* children, and the next of the same parent */
};

/* NULL: it is not JSON, or memory is out. The text must stay. Free it with json_free(). */
struct json *json_parse(const char *text, size_t bytes);
void json_free(struct json *j);

const struct json *json_get(const struct json *object, const char *key); /* NULL: it is not there */
uint64_t json_u64(const struct json *object, const char *key); /* 0: not there, or no number */
bool json_is(const struct json *object, const char *key, char type);
bool json_text_is(const struct json *object, const char *key, const char *text);

#endif
