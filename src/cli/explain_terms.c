#include "cli/explain_terms.h"

#include "foreign/formats.h"

const struct rs_term_table *rs_explain_table(size_t index)
{
    static struct rs_term_table tables[RS_TOOLS + 4];
    static size_t n;
    if (!n) {
        tables[n++] = rs_terms_words;
        tables[n++] = rs_terms_nccl;
        for (uint8_t tool = 0; tool < RS_TOOLS; tool++) {
            const struct rs_format *f = rs_format_of(tool);
            if (f) tables[n++] = (struct rs_term_table){rs_tool_name(tool), f->what, f->holds, f->terms, f->nterms};
        }
        tables[n++] = rs_terms_json;
        tables[n++] = rs_terms_export;
    }
    return index < n ? &tables[index] : NULL;
}
