/* Stands in for libnccl: a mask and a logger that are gone when it is unloaded. */
#include <stddef.h>

extern int campaign_mask;
extern void (*campaign_hook)(int level);
int ncclGetVersion(int *version);
void campaign_logger(int level, unsigned long flags, const char *file, int line, const char *fmt, ...);

int campaign_mask;
void (*campaign_hook)(int level);

void campaign_logger(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
{
    (void)flags, (void)file, (void)line, (void)fmt;
    if (campaign_hook) campaign_hook(level);
}

int ncclGetVersion(int *version)
{
    *version = 22809;
    return 0;
}
