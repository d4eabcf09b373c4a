/* Names of event types, states and v1's enums, as NCCL spells them. */
#ifndef RS_NCCL_NAMES_H
#define RS_NCCL_NAMES_H

#include <stdint.h>

/* By type bit (one bit set): "Coll", "ProxyStep", ...; NULL: unknown. */
const char *rs_nccl_type_name(uint64_t type);
/* "ProxyStepSendWait", ...; NULL: unknown. */
const char *rs_nccl_state_name(int state);

/* The numbers that v1 passes instead of strings; NULL: unknown. */
const char *rs_nccl_func_v1(unsigned func);
const char *rs_nccl_datatype_v1(unsigned datatype);
const char *rs_nccl_algo_v1(unsigned algo);
const char *rs_nccl_proto_v1(unsigned proto);

#endif
