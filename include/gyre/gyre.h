/* SPDX-License-Identifier: Apache-2.0
 *
 * Gyre: collective communication between the memories of many processes.
 *
 * Threading. Every function may be called from any thread. One communicator takes one call at a
 * time: a second thread that enters it meanwhile gets gyreInvalidUsage. Different communicators are
 * independent.
 *
 * Handles (gyreComm_t, gyreStream_t, gyreRegistration_t) are tickets that are looked up in a table,
 * never addresses that are dereferenced: a stale, foreign or made-up handle gives
 * gyreInvalidArgument and touches no memory.
 *
 * Errors. Each function returns a gyreResult_t; gyreGetLastError says in words what happened, why
 * that usually happens and what to do. A call refused with gyreInvalidArgument, gyreInvalidUsage or
 * gyreNotSupported has changed nothing. After any other error the communicator has failed: every
 * pending and later call on it returns the same cause; destroy or abort it.
 *
 * Streams. What a call does depends on where its buffers are and what its stream is:
 *
 *   buffers  stream         meaning
 *   -------  -------------  ----------------------------------------------------------------------
 *   CPU      NULL           the calling thread drives the operation; it is done when the call returns
 *   CPU      Gyre stream    queued; done when gyreStreamSynchronize (or a true gyreStreamQuery) says so
 *   CPU      CUDA stream    gyreInvalidArgument: a CUDA stream does not order CPU memory
 *   GPU      CUDA stream    queued behind the work already on that stream      (gyreNotSupported yet)
 *   GPU      NULL           the CUDA legacy default stream                      (gyreNotSupported yet)
 *   GPU      Gyre stream    gyreInvalidArgument: a Gyre stream does not order GPU work
 *   mixed    any            gyreInvalidArgument
 *
 * In-place forms are those of NCCL: AllReduce, Reduce, Broadcast: sendbuff == recvbuff;
 * AllGather, Gather: sendbuff == recvbuff + rank * count; ReduceScatter, Scatter:
 * recvbuff == sendbuff + rank * count. Any other overlap is gyreInvalidArgument.
 *
 * Numbers. Results are bitwise equal on all ranks, and from run to run for the same plan.
 * See docs/numerics.md for rounding, saturation, NaN and integer averages.
 */
#ifndef GYRE_GYRE_H
#define GYRE_GYRE_H

#include <stddef.h>
#include <stdint.h>

#define GYRE_MAJOR 0
#define GYRE_MINOR 1
#define GYRE_PATCH 0
/* 10000 * major + 100 * minor + patch */
#define GYRE_VERSION_CODE (GYRE_MAJOR * 10000 + GYRE_MINOR * 100 + GYRE_PATCH)

#if defined(GYRE_STATIC)
#define GYRE_API
#else
#define GYRE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- results ---------------------------------------------------------------------------------- */

typedef enum gyreResult {
  gyreSuccess = 0,
  gyreUnhandledCudaError = 1,
  gyreSystemError = 2,     /* a system call failed; the text holds the call and errno */
  gyreInternalError = 3,   /* a bug in Gyre */
  gyreInvalidArgument = 4, /* the text names the argument and its value; nothing was changed */
  gyreInvalidUsage = 5,    /* ranks make different calls, or calls in a wrong order */
  gyreRemoteError = 6,     /* another rank died or failed; the text names it */
  gyreInProgress = 7,
  gyreTimeout = 8,      /* a deadline passed; the text names who did not come */
  gyreNotSupported = 9, /* declared, and not built yet; see the support table in README.md */
  gyreAborted = 10,     /* gyreCommAbort was called here */
  gyreNumResults = 11
} gyreResult_t;

/* A short fixed name, e.g. "invalid argument". Never NULL; owned by the library. */
GYRE_API const char* gyreGetErrorString(gyreResult_t result);

/* ---- handles ---------------------------------------------------------------------------------- */

typedef struct gyreCommTicket* gyreComm_t;
typedef struct gyreRegistrationTicket* gyreRegistration_t;
/* A Gyre stream, or a CUDA stream (cudaStream_t, CUstream) passed as it is, or NULL. */
typedef void* gyreStream_t;

/* The text of the newest failure: of `comm` when it has failed, else of the calling thread.
 * `comm` may be NULL. Never NULL; owned by the library, valid until the thread's next Gyre call. */
GYRE_API const char* gyreGetLastError(gyreComm_t comm);

/* *version = GYRE_VERSION_CODE of the library that is loaded. */
GYRE_API gyreResult_t gyreGetVersion(int* version);

/* ---- element types and operations --------------------------------------------------------------- */

typedef enum gyreDataType {
  gyreInt8 = 0,
  gyreUint8 = 1,
  gyreInt32 = 2,
  gyreUint32 = 3,
  gyreInt64 = 4,
  gyreUint64 = 5,
  gyreFloat16 = 6,
  gyreFloat32 = 7,
  gyreFloat64 = 8,
  gyreBfloat16 = 9,
  gyreFloat8e4m3 = 10, /* OCP FP8 E4M3: no infinities, largest finite 448 */
  gyreFloat8e5m2 = 11, /* OCP FP8 E5M2: IEEE-like, with infinities, largest finite 57344 */
  gyreNumTypes = 12
} gyreDataType_t;

typedef enum gyreRedOp {
  gyreSum = 0,
  gyreProd = 1,
  gyreMax = 2,  /* a NaN on any rank gives NaN */
  gyreMin = 3,  /* a NaN on any rank gives NaN */
  gyreAvg = 4,  /* floats: each contribution times 1/n, then summed; integers: sum, then divided
                  towards zero */
  gyreBand = 5, /* band, bor, bxor: integer types only */
  gyreBor = 6,
  gyreBxor = 7,
  gyreNumOps = 8, /* first value that gyreRedOpCreate... may return */
  gyreMaxRedOp = 0x7fffffff
} gyreRedOp_t;

/* inout[i] = in[i] (op) inout[i] for i in [0, count): `in` comes from lower ranks than `inout`.
 * Called on the thread that drives the operation; must not call Gyre. */
typedef void (*gyreReduceFunction_t)(const void* in, void* inout, size_t count,
                                     gyreDataType_t datatype, void* context);

/* Sum in which this rank's contribution is first multiplied by *scalar (of type `datatype`, read
 * before return) and rounded to `datatype`. Each rank gives a scalar of its own. */
GYRE_API gyreResult_t gyreRedOpCreatePreMulSum(gyreRedOp_t* op, const void* scalar,
                                               gyreDataType_t datatype, gyreComm_t comm);
/* A user's own operation on host memory. Must be associative; when `commutative` is 0 the
 * contributions are combined in rank order. */
GYRE_API gyreResult_t gyreRedOpCreateUser(gyreRedOp_t* op, gyreReduceFunction_t function,
                                          int commutative, void* context, gyreComm_t comm);
GYRE_API gyreResult_t gyreRedOpDestroy(gyreRedOp_t op, gyreComm_t comm);

/* ---- communicators ------------------------------------------------------------------------------- */

#define GYRE_UNIQUE_ID_BYTES 128
/* Address of the root, epoch and 256-bit secret of a job: who knows it may join. Keep it private. */
typedef struct gyreUniqueId {
  char internal[GYRE_UNIQUE_ID_BYTES];
} gyreUniqueId;

#define GYRE_UNDEFINED_INT (-2147483647 - 1)
#define GYRE_SPLIT_NOCOLOR (-1)

typedef struct gyreConfig {
  size_t size;            /* sizeof(gyreConfig_t) of the caller */
  int version;            /* GYRE_VERSION_CODE of the caller */
  int blocking;           /* 1: init returns when done (default); 0: gyreNotSupported yet */
  int initTimeoutSeconds; /* all ranks must have joined by then; default GYRE_INIT_TIMEOUT */
  int timeoutSeconds; /* longest wait for a peer inside a call; 0: for ever; default GYRE_TIMEOUT */
  const char* commName; /* shown in messages; copied; NULL: none */
  const char* planFile; /* plans of your own, as GYRE_PLAN_FILE; copied; NULL: that variable's */
} gyreConfig_t;

#define GYRE_CONFIG_INITIALIZER                                                      \
  {                                                                                  \
    sizeof(gyreConfig_t), GYRE_VERSION_CODE, GYRE_UNDEFINED_INT, GYRE_UNDEFINED_INT, \
        GYRE_UNDEFINED_INT, NULL, NULL                                               \
  }

/* Makes an id and listens for its ranks in this process until all have joined or the process ends.
 * Hand the 128 bytes to every rank by any private means. One id makes one communicator. */
GYRE_API gyreResult_t gyreGetUniqueId(gyreUniqueId* id);

/* Collective. Joins rank `rank` of `nranks` to the communicator that `id` names. */
GYRE_API gyreResult_t gyreCommInitRank(gyreComm_t* comm, int nranks, gyreUniqueId id, int rank);
/* As above; `config` may be NULL. */
GYRE_API gyreResult_t gyreCommInitRankConfig(gyreComm_t* comm, int nranks, gyreUniqueId id,
                                             int rank, const gyreConfig_t* config);
/* Collective. Rank, size and id come from the launcher: GYRE_COMM_ID, PMIx (mpirun, srun, prun) or
 * torchrun's environment; a process that nobody launched becomes a communicator of one. One call at a
 * time in a process. */
GYRE_API gyreResult_t gyreCommInitEnvironment(gyreComm_t* comm, const gyreConfig_t* config);

/* Collective. Waits until all work queued on the communicator is done everywhere. */
GYRE_API gyreResult_t gyreCommFinalize(gyreComm_t comm);
/* Collective when healthy (finalizes first); local after a failure. The handle is dead afterwards. */
GYRE_API gyreResult_t gyreCommDestroy(gyreComm_t comm);
/* Local: may be called from another thread while a call is blocked, which then returns
 * gyreAborted; the other ranks are told. When it returns no peer writes this process's buffers any
 * more. The handle is dead afterwards. */
GYRE_API gyreResult_t gyreCommAbort(gyreComm_t comm);

#define GYRE_SPLIT_NOCOLOR (-1)
/* Collective on `comm`. The ranks that give the same color become a communicator, *newcomm, in the
 * order of their keys, then of their ranks. A rank that gives GYRE_SPLIT_NOCOLOR takes part in the
 * call and gets NULL. `config` NULL: as `comm`. The two communicators are independent afterwards. */
GYRE_API gyreResult_t gyreCommSplit(gyreComm_t comm, int color, int key, gyreComm_t* newcomm,
                                    const gyreConfig_t* config);
#define GYRE_SHRINK_DEFAULT 0
#define GYRE_SHRINK_ABORT 1 /* the parent has failed: abort its work first */
GYRE_API gyreResult_t gyreCommShrink(gyreComm_t comm, const int* excludeRanks, int excludeCount,
                                     gyreComm_t* newcomm, const gyreConfig_t* config, int flags);

/* *asyncError = the failure that the communicator is in, or gyreSuccess. */
GYRE_API gyreResult_t gyreCommGetAsyncError(gyreComm_t comm, gyreResult_t* asyncError);
GYRE_API gyreResult_t gyreCommCount(gyreComm_t comm, int* count);
GYRE_API gyreResult_t gyreCommUserRank(gyreComm_t comm, int* rank);

typedef struct gyreRankInfo {
  size_t size; /* sizeof(gyreRankInfo_t) of the caller, set before the call */
  int version; /* GYRE_VERSION_CODE of the caller, set before the call */
  int rank;
  int64_t pid;
  int cpu; /* CPU that the rank ran on when it joined */
  char host[64];
  char cpus[64];      /* CPUs that the rank may use, e.g. "0-3,8" */
  char transport[16]; /* between this rank and that one: "self", "shm" */
} gyreRankInfo_t;
GYRE_API gyreResult_t gyreCommGetRankInfo(gyreComm_t comm, int rank, gyreRankInfo_t* info);
/* *name = the plan that the newest collective on `comm` ran, e.g. "ring/staged"; owned by the
 * library, valid until the communicator is destroyed. */
GYRE_API gyreResult_t gyreCommGetLastPlan(gyreComm_t comm, const char** name);

/* ---- memory ---------------------------------------------------------------------------------------- */

/* Host memory that peers on this host can map: collectives on it stage nothing. Zeroed, page
 * aligned, sealed against shrinking, not inherited usefully by fork (a child sees the same pages). */
GYRE_API gyreResult_t gyreMemAlloc(void** ptr, size_t size);
GYRE_API gyreResult_t gyreMemFree(void* ptr);

#define GYRE_REGISTER_DEFAULT 0u
/* Turn the range's whole pages into shared pages where they stand, so that peers can map them.
 * The caller promises that nothing touches the range during this call and during
 * gyreCommDeregister, and that no other library has pinned it. See docs/memory.md for fork,
 * transparent huge pages and NUMA. */
#define GYRE_REGISTER_SHARE_IN_PLACE 1u
/* Registers [buff, buff + size) for use with `comm`. Local. Without the flag the memory stays as it
 * is and collectives stage. */
GYRE_API gyreResult_t gyreCommRegister(gyreComm_t comm, void* buff, size_t size, unsigned flags,
                                       gyreRegistration_t* registration);
GYRE_API gyreResult_t gyreCommDeregister(gyreComm_t comm, gyreRegistration_t registration);

/* ---- collectives -------------------------------------------------------------------------------------
 * Counts are in elements. Every rank of the communicator must make the same call in the same order;
 * a call that does not match is reported on every rank with both calls named. */

/* recvbuff[i] = op over ranks of sendbuff[i], i in [0, count), on every rank. */
GYRE_API gyreResult_t gyreAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                                    gyreDataType_t datatype, gyreRedOp_t op, gyreComm_t comm,
                                    gyreStream_t stream);
/* As AllReduce, result on `root` only; recvbuff is ignored elsewhere. */
GYRE_API gyreResult_t gyreReduce(const void* sendbuff, void* recvbuff, size_t count,
                                 gyreDataType_t datatype, gyreRedOp_t op, int root, gyreComm_t comm,
                                 gyreStream_t stream);
/* sendbuff holds nranks * recvcount; rank r gets the reduced piece r. */
GYRE_API gyreResult_t gyreReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                        gyreDataType_t datatype, gyreRedOp_t op, gyreComm_t comm,
                                        gyreStream_t stream);
/* recvbuff holds nranks * sendcount: piece r is rank r's sendbuff. */
GYRE_API gyreResult_t gyreAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                    gyreDataType_t datatype, gyreComm_t comm, gyreStream_t stream);
/* recvbuff on every rank = sendbuff of `root`; sendbuff is ignored elsewhere. */
GYRE_API gyreResult_t gyreBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                                    gyreDataType_t datatype, int root, gyreComm_t comm,
                                    gyreStream_t stream);
/* On `root` recvbuff holds nranks * sendcount; ignored elsewhere. */
GYRE_API gyreResult_t gyreGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                                 gyreDataType_t datatype, int root, gyreComm_t comm,
                                 gyreStream_t stream);
/* On `root` sendbuff holds nranks * recvcount; ignored elsewhere. */
GYRE_API gyreResult_t gyreScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                                  gyreDataType_t datatype, int root, gyreComm_t comm,
                                  gyreStream_t stream);
/* Piece r of sendbuff goes to rank r; piece r of recvbuff comes from rank r; `count` each. */
GYRE_API gyreResult_t gyreAllToAll(const void* sendbuff, void* recvbuff, size_t count,
                                   gyreDataType_t datatype, gyreComm_t comm, gyreStream_t stream);
/* As AllToAll with nranks counts and displacements (in elements) on each side; no in-place form.
 * What rank i sends to rank j must be as long as what j receives from i. The arrays are copied. */
GYRE_API gyreResult_t gyreAllToAllV(const void* sendbuff, const size_t* sendcounts,
                                    const size_t* sdispls, void* recvbuff, const size_t* recvcounts,
                                    const size_t* rdispls, gyreDataType_t datatype, gyreComm_t comm,
                                    gyreStream_t stream);
/* As AllGather with a length for each rank: recvcounts and rdispls (nranks each, in elements) are the
 * same on every rank, and sendcount is recvcounts[rank]. In place: sendbuff is where it is to be. */
GYRE_API gyreResult_t gyreAllGatherV(const void* sendbuff, size_t sendcount, void* recvbuff,
                                     const size_t* recvcounts, const size_t* rdispls,
                                     gyreDataType_t datatype, gyreComm_t comm, gyreStream_t stream);
/* As ReduceScatter with a length for each rank: recvcounts (nranks) is the same on every rank, and the
 * pieces of sendbuff follow one another. In place: recvbuff is this rank's piece of sendbuff. */
GYRE_API gyreResult_t gyreReduceScatterV(const void* sendbuff, void* recvbuff,
                                         const size_t* recvcounts, gyreDataType_t datatype,
                                         gyreRedOp_t op, gyreComm_t comm, gyreStream_t stream);
GYRE_API gyreResult_t gyreBarrier(gyreComm_t comm, gyreStream_t stream);

/* A message to rank `peer`, which must receive it with the same count and type; messages from one
 * rank to another are received in the order in which they are sent. Send returns when sendbuff may
 * be used again, which may be before the peer receives. Two ranks that both send first may wait for
 * each other for ever (until the timeout, or until it is found out): put such calls in a group. */
GYRE_API gyreResult_t gyreSend(const void* sendbuff, size_t count, gyreDataType_t datatype,
                               int peer, gyreComm_t comm, gyreStream_t stream);
GYRE_API gyreResult_t gyreRecv(void* recvbuff, size_t count, gyreDataType_t datatype, int peer,
                               gyreComm_t comm, gyreStream_t stream);

/* Calls of this thread between Start and End are checked at once and launched together by the
 * outermost End. Of one communicator, collectives run in the order of the calls, then all sends and
 * receives at the same time, in whatever order they were called; all name one stream. Different
 * communicators do not wait for each other, so one thread may play several ranks; communicators may
 * also be made in a group (gyreCommInitRank...; the handle is there after End). When a call of the
 * group is refused, End launches nothing and says which. Buffers and count arrays: until End, or until
 * the stream is synchronized. */
GYRE_API gyreResult_t gyreGroupStart(void);
GYRE_API gyreResult_t gyreGroupEnd(void);

/* ---- streams ----------------------------------------------------------------------------------------- */

/* An ordered queue of operations on CPU buffers, served by the progress engine. */
GYRE_API gyreResult_t gyreStreamCreate(gyreStream_t* stream);
/* Returns when all that was queued is done, with its first failure. */
GYRE_API gyreResult_t gyreStreamSynchronize(gyreStream_t stream);
/* gyreSuccess: all done; gyreInProgress: not yet; else the first failure. */
GYRE_API gyreResult_t gyreStreamQuery(gyreStream_t stream);
/* Synchronizes first. */
GYRE_API gyreResult_t gyreStreamDestroy(gyreStream_t stream);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* GYRE_GYRE_H */
