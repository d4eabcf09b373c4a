/* The GPU of a communicator, from the CUDA driver that is already in the process.
 *
 * Looked up by name at run time, never linked or loaded by us. Called at init only: in other callbacks CUDA calls may
 * deadlock. */
#ifndef RS_PLUGIN_DEVICE_H
#define RS_PLUGIN_DEVICE_H

#include "format/layout.h"

/* Looks up the driver's functions, once. Calls the loader: see rs_process_find_nccl(). */
void rs_device_find_driver(void);
/* Fills in device, bus_id and uuid of the calling thread's current device; leaves -1 and zeros if unknown. */
void rs_device_of_thread(struct rs_fact_comm *comm);

#endif
