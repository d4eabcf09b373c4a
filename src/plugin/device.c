#include "plugin/device.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 4096 };

/* The name under which the driver library was loaded, if it was. Given its short name the loader would search folders
 * and open files in the program's descriptor table, where another thread may close them or reuse their numbers. */
static int find_library(struct dl_phdr_info *info, size_t bytes, void *path)
{
    (void)bytes;
    const char *file = strrchr(info->dlpi_name, '/');
    file = file ? file + 1 : info->dlpi_name;
    if (strncmp(file, "libcuda.so", strlen("libcuda.so")) != 0) return 0;
    return snprintf(path, PATH_BYTES, "%s", info->dlpi_name) < PATH_BYTES;
}

/* A driver function, in the program itself or in the driver library if that is loaded. */
static void *driver(const char *name)
{
    char path[PATH_BYTES];
    void *f = dlsym(RTLD_DEFAULT, name);
    if (f) return f;
    void *lib = dl_iterate_phdr(find_library, path) ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (!lib) return NULL;
    f = dlsym(lib, name);
    dlclose(lib); /* drops the reference that NOLOAD took; NCCL holds its own */
    return f;
}

/* dlsym returns void *, which POSIX allows to convert to a function pointer */
static _Atomic(void *) current_f, bus_id_f, uuid_f;

void rs_device_find_driver(void)
{
    if (!current_f) {
        void *uuid = driver("cuDeviceGetUuid_v2");
        bus_id_f = driver("cuDeviceGetPCIBusId");
        uuid_f = uuid ? uuid : driver("cuDeviceGetUuid");
        current_f = driver("cuCtxGetDevice");
    }
    dlerror(); /* the program must not see our message */
}

void rs_device_of_thread(struct rs_fact_comm *comm)
{
    int (*current)(int *), (*bus_id)(char *, int, int), (*uuid)(void *, int), device;
    comm->device = -1;
    *(void **)&current = current_f;
    *(void **)&bus_id = bus_id_f;
    *(void **)&uuid = uuid_f;
    if (!current || current(&device)) return;
    comm->device = device;
    if (bus_id && bus_id(comm->bus_id, sizeof comm->bus_id, device)) comm->bus_id[0] = 0;
    if (uuid && uuid(comm->uuid, device)) memset(comm->uuid, 0, sizeof comm->uuid);
}
