/* Events and states of NCCL's profiler interface. */
#include "explain/terms.h"

static const struct rs_term terms[] = {
    {"Group", "event",
     "One plan of work that NCCL launches as a kernel; parent of the operations in it. Not in the example "
     "profiler's dumps since 2.28."},
    {"Coll", "event",
     "A collective on one rank, from scheduling to enqueueing. Its stop is not its end: the work ends with "
     "its KernelCh or ProxyOp events."},
    {"P2p", "event",
     "A send or a receive on one rank. NCCL does not number it, so its other end is found by order: the i-th send to a "
     "peer is the peer's i-th receive."},
    {"ProxyOp", "event",
     "Work of the proxy thread for one channel and peer of an operation over the network. Sends and receives "
     "have separate ones."},
    {"ProxyStep", "event",
     "One chunk of a ProxyOp on its way through the network; its states show what it waits for. Several are in flight "
     "at once."},
    {"ProxyCtrl", "event",
     "What the proxy thread does besides moving data: idle, asleep, taking new work. Many, and rarely useful; left "
     "out by default."},
    {"KernelCh", "event",
     "One channel of an operation's kernel on the GPU, with the GPU's own timer at start and stop. The best available "
     "start and "
     "end of an operation."},
    {"NetPlugin", "event",
     "An event of the network plugin below a ProxyStep, such as a transfer of a queue pair or a socket. "
     "Only if NCCL was built for it."},
    {"GroupApi", "event",
     "A group call of the program (ncclGroupStart to ncclGroupEnd, or the one around a single call). It is reported to "
     "one communicator even if it spans several."},
    {"CollApi", "event", "The program's call of a collective, on the host: when it was requested, not when it ran."},
    {"P2pApi", "event",
     "The program's call of a send or receive, on the host. It does not name the peer; the P2p event below it does."},
    {"KernelLaunch", "event",
     "The launch of the kernel of a group, on the host. From here to the kernel's start it waits for its stream."},
    {"CeColl", "event",
     "A collective done by copy engines instead of a kernel. NCCL reports when it was enqueued, not its end."},
    {"CeSync", "event", "A synchronisation between ranks of a copy-engine collective, as it is enqueued."},
    {"CeBatch", "event", "A batch of copies of a copy-engine collective, as it is enqueued."},
    {"KernelPhase", "event",
     "A phase of a kernel on one channel (first synchronisation, compute, last synchronisation), with GPU timers. From "
     "version 7 of the interface (NCCL 2.31)."},
    {"ProxyOpSendPosted", "state", "The send side has posted buffers. Sent only by NCCL 2.23 to 2.26."},
    {"ProxyOpSendRemFifoWait", "state",
     "The send side waits for room at the receiver. Sent only by NCCL 2.23 to 2.26."},
    {"ProxyOpSendTransmitted", "state", "A chunk was passed to the network. Sent only by NCCL 2.23 to 2.26."},
    {"ProxyOpSendDone", "state", "The network has finished a chunk. Sent only by NCCL 2.23 to 2.26."},
    {"ProxyOpRecvPosted", "state",
     "The receive side has posted a buffer to the network. Sent only by NCCL 2.23 to 2.26."},
    {"ProxyOpRecvReceived", "state", "A chunk was received. Sent only by NCCL 2.23 to 2.26."},
    {"ProxyOpRecvTransmitted", "state", "A chunk was made visible to the GPU. Sent only by NCCL 2.23 to 2.26."},
    {"ProxyOpRecvDone", "state", "The GPU has consumed a chunk. Sent only by NCCL 2.23 to 2.26."},
    {"ProxyOpInProgress", "state",
     "The proxy thread has begun to move data for the operation; before, it was only scheduled. Since NCCL 2.27."},
    {"ProxyStepSendGPUWait", "state",
     "A send step waits for its own GPU to fill the buffer: the network is not to blame, the kernel (or what it waits "
     "for) is."},
    {"ProxyStepSendPeerWait", "state",
     "A send step waits for credit, i.e. room at the receiver: the receiver is behind."},
    {"ProxyStepSendWait", "state",
     "The data of a send step is on the network and not acknowledged yet: time of the network itself."},
    {"ProxyStepRecvWait", "state",
     "A receive step waits for data: the sender has not sent, or the network is slow. The sender's steps show which."},
    {"ProxyStepRecvFlushWait", "state", "Data has arrived, and a flush makes it visible to the GPU (GPUDirect RDMA)."},
    {"ProxyStepRecvGPUWait", "state", "Data has arrived, and this rank's GPU has not consumed it yet."},
    {"ProxyCtrlIdle", "state", "The proxy thread has nothing to do."},
    {"ProxyCtrlActive", "state", "The proxy thread progresses operations."},
    {"ProxyCtrlSleep", "state",
     "The proxy thread sleeps until new work is posted. Destruction of the communicator begins at the "
     "end of its last sleep."},
    {"ProxyCtrlWakeup", "state", "The proxy thread was woken."},
    {"ProxyCtrlAppend", "state", "The proxy thread begins to take over posted operations."},
    {"ProxyCtrlAppendEnd", "state", "The proxy thread has taken over posted operations; the argument is their number."},
    {"NetPluginUpdate", "state", "An update of an event by the network plugin."},
    {"KernelChStop", "state",
     "Contains the GPU's timer at the end of a channel. The callback is later than that, by the polling of the proxy "
     "thread."},
    {"GroupStartApiStop", "state", "ncclGroupStart returned."},
    {"GroupEndApiStart", "state", "ncclGroupEnd was called: the calls of the group are complete."},
    {"CeCollStart", "state", "Defined for copy-engine collectives; NCCL does not send it so far."},
    {"CeCollComplete", "state", "Defined for copy-engine collectives; NCCL does not send it so far."},
    {"CeSyncStart", "state", "Defined for synchronisations of copy-engine collectives; NCCL does not send it so far."},
    {"CeSyncComplete", "state",
     "Defined for synchronisations of copy-engine collectives; NCCL does not send it so far."},
    {"CeBatchStart", "state", "Defined for batches of copy-engine collectives; NCCL does not send it so far."},
    {"CeBatchComplete", "state", "Defined for batches of copy-engine collectives; NCCL does not send it so far."},
    {"KernelPhaseStop", "state", "Contains the GPU's timer at the end of a kernel's phase (version 7)."},
    {"seqNumber", "field",
     "NCCL's number of a collective, per communicator and function, from 0. Captured graphs do not "
     "advance it on every replay."},
    {"commHash", "field",
     "NCCL's 64-bit number of a communicator, the same on all its ranks. Above 2^53: tools that read numbers as "
     "doubles change it."},
    {"pTimer", "field",
     "A GPU's own nanosecond timer. Timers of two GPUs are not one clock, not even on one host: they may be seconds "
     "apart."},
    {"nChannels", "field",
     "How many channels (blocks of the kernel, each with its own ring or tree) an operation uses; as many KernelCh "
     "events are "
     "expected."},
    {"parentObj", "field",
     "Handle of the parent event in a start callback, as the profiler returned it when the parent started; NULL: "
     "none."},
    {"eActivationMask", "field",
     "Bits of the event types that a profiler wants (ncclProfileColl = 2, ...): NCCL starts no other events. "
     "Recordings "
     "have it, as it was in effect."},
    {"algo", "field", "Algorithm of a collective: RING, TREE, NVLS, NVLS_TREE, PAT, COLLNET_DIRECT, COLLNET_CHAIN."},
    {"proto", "field",
     "Protocol of a collective: LL (low latency, half the bandwidth), LL128, SIMPLE (full bandwidth, large messages)."},
    {"AllReduce", "value",
     "Every rank gets the reduction of all ranks' buffers. Its bus bandwidth is 2(n-1)/n times bytes over time."},
    {"AllGather", "value",
     "Every rank gets all ranks' shares. NCCL's count is one rank's share; `bytes` of ringscope is that times n."},
    {"ReduceScatter", "value",
     "Every rank gets its share of the reduction. NCCL's count is one rank's share; `bytes` of ringscope is that times "
     "n."},
    {"Broadcast", "value",
     "All ranks get the root's buffer; a rank waits for the root, not for others. Some versions of NCCL report only "
     "the "
     "call."},
    {"Reduce", "value", "The root gets the reduction; only the root waits for all."},
    {"Send", "value", "One side of a message between two ranks. With its receive it is a pair."},
    {"Recv", "value", "The other side of a send. It begins to wait as soon as its kernel starts."},
    {"SendRecv", "value", "Sends and receives of one group call together, or a send with its receive."},
    {"AlltoAll", "value",
     "Every rank sends a part to every other: as many sends and receives in one group, or one call of newer NCCL."},
    {"ncclFloat32", "value",
     "Element type of 4 bytes. Names are NCCL's; \"Unknown\" is what NCCL calls ncclUint8, so 1 byte."},
};

const struct rs_term_table rs_terms_nccl = {"ringscope",
                                            "recording of ringscope: callbacks of NCCL's profiler interface",
                                            "Every callback of the requested event types, with losses counted; GPU "
                                            "timers, network steps. Not: other kernels than "
                                            "NCCL's, host code, reduction operators.",
                                            terms, sizeof terms / sizeof *terms};
