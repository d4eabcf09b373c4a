#include "plugin/tick.h"

#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

bool rs_tick_counter;
enum rs_tick_source rs_tick_source = RS_TICK_CLOCK_RAW;

#if defined(__x86_64__)
/* The kernel switches from TSC to one of these only after marking it unstable. */
static bool kernel_distrusts_tsc(void)
{
    char name[32] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = read(fd, name, sizeof name - 1);
    close(fd);
    return n > 0 && (!strncmp(name, "hpet", 4) || !strncmp(name, "acpi_pm", 7));
}
#endif

void rs_tick_choose(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    int mode = PR_TSC_ENABLE; /* a process may disable the instruction for itself */
    if (!prctl(PR_GET_TSC, &mode) && mode != PR_TSC_ENABLE) return;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8) || kernel_distrusts_tsc()) return;
    rs_tick_source = RS_TICK_TSC;
    rs_tick_counter = true;
#elif defined(__aarch64__)
    rs_tick_source = RS_TICK_CNTVCT;
    rs_tick_counter = true;
#endif
}
