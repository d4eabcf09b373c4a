#include "plugin/device.h"

#include <dlfcn.h>
#include <string.h>

/* A driver function, in the program itself or in the driver library if that is loaded. */
static void *driver(const char *name)
{
    void *f = dlsym(RTLD_DEFAULT, name);
    if (f) return f;
    void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!lib) return NULL;
    f = dlsym(lib, name);
    dlclose(lib); /* drops the reference that NOLOAD took; NCCL holds its own */
    return f;
}

void rs_device_of_thread(struct rs_fact_comm *comm)
{
    comm->device = -1;
    /* dlsym gives void *; POSIX promises that it can hold a function */
    int (*current)(int *), (*bus_id)(char *, int, int), (*uuid)(void *, int);
    *(void **)&current = driver("cuCtxGetDevice");
    *(void **)&bus_id = driver("cuDeviceGetPCIBusId");
    *(void **)&uuid = driver("cuDeviceGetUuid_v2");
    if (!uuid) *(void **)&uuid = driver("cuDeviceGetUuid");
    int device;
    if (!current || current(&device)) return;
    comm->device = device;
    if (bus_id && bus_id(comm->bus_id, sizeof comm->bus_id, device)) comm->bus_id[0] = 0;
    if (uuid && uuid(comm->uuid, device)) memset(comm->uuid, 0, sizeof comm->uuid);
}
