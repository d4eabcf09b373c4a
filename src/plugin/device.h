/* Which GPU a communicator drives, asked of the CUDA driver that is already in the process.
 *
 * Looked up by name at run time, never linked, never loaded by us. Called at init only: in other callbacks CUDA calls
 * may deadlock or are forbidden. */
#ifndef RS_PLUGIN_DEVICE_H
#define RS_PLUGIN_DEVICE_H

#include "format/layout.h"

/* Looks the driver's functions up, if they are not known yet. Asks the loader: as rs_process_find_nccl(). */
void rs_device_find_driver(void);
/* Fills device, bus_id and uuid of the calling thread's current device; leaves -1 and zeros where they are not known. */
void rs_device_of_thread(struct rs_fact_comm *comm);

#endif
