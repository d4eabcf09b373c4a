#include "bundle/page.h"

#ifdef RS_PAGE_FILE

#include <stdint.h>

/* The bytes of the file, preceded by their number: the assembler includes them unchanged, at no cost. */
__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".hidden rs_page_length\n"
        ".globl rs_page_length\n"
        "rs_page_length:\n"
        ".8byte 2f - 1f\n"
        ".hidden rs_page_text\n"
        ".globl rs_page_text\n"
        "rs_page_text:\n"
        "1:\n"
        ".incbin \"" RS_PAGE_FILE "\"\n"
        "2:\n"
        ".byte 0\n"
        ".popsection\n");

extern const uint64_t rs_page_length __attribute__((visibility("hidden")));
extern const char rs_page_text[] __attribute__((visibility("hidden")));

const char *rs_page(size_t *bytes)
{
    *bytes = (size_t)rs_page_length; /* an empty file: there was no page */
    return rs_page_length > 0 ? rs_page_text : NULL;
}

#else

const char *rs_page(size_t *bytes)
{
    *bytes = 0;
    return NULL;
}

#endif
