/* Answers of the web server that child processes of the caller make. serve.h describes when. */
#ifndef RS_SERVE_JOB_H
#define RS_SERVE_JOB_H

#include <stddef.h>
#include <stdint.h>

/* An address whose answers are computed by others, from the body of a POST. GET answers with a fixed text. */
struct rs_site_job {
    const char *path; /* "/sql"; NULL: there is none */
    const char *about; /* answer to GET, JSON Lines; the caller's */
    size_t about_bytes;
    size_t most; /* bytes of a body */
    const char *busy; /* answer while another one is being computed: a line */
};

/* What a job made. */
struct rs_serve_result {
    int status; /* of HTTP */
    const char *type; /* of its content */
    const char *headers; /* further ones, each ended by CR LF; "": none */
    int file; /* descriptor; becomes the server's */
    uint64_t bytes;
};

/* An address that is answered by child processes. Both functions must return at once. */
struct rs_serve_job {
    struct rs_site_job site;
    /* Starts a child. Returns a descriptor, which becomes the server's and is at its end (EOF) once the child ended; -1:
     * none could be started. */
    int (*start)(void *context, const char *body, size_t bytes);
    /* The child ended. */
    void (*end)(void *context, struct rs_serve_result *result);
    void *context;
};

#endif
