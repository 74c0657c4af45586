// What Swift cannot import, and the child side of fork. Each function says why it exists.
// Functions return -1 with errno set unless they say otherwise.
#pragma once

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// open(2), fcntl(2) take variable arguments, which Swift does not import.
int wake_open(const char *path, int flags, unsigned int mode);
int wake_duplicate(int descriptor);
int wake_nonblocking(int descriptor);

// copy_file_range(2) is a GNU extension. Writes what is left of a file to another; where the file system can, they share the
// blocks until one of them is written to.
int wake_copy_file(int from, int to);

// prctl(2) takes variable arguments. From now on SIGTERM comes when the thread that started this process ends. ESRCH when
// that is no thread of the given process, or has ended.
int wake_end_with_parent(int parent);

// signalfd(2), which Glibc's module lacks. The descriptor can be read while one of the signals, which are blocked, is waiting.
int wake_signal_descriptor(const sigset_t *signals);

// strerrordesc_np(3) is a GNU extension. NULL for an unknown code.
const char *wake_reason(int code);

// What the child side of a spawn reads. Everything is prepared beforehand: between clone and exec nothing is allocated.
struct wake_spawn {
    const char *path;             // the executable
    const char *const *arguments; // NULL-terminated, the name first
    const char *const *environment;
    const char *directory; // working directory; NULL keeps the bench's
    int socket;            // becomes descriptor 3
    int output;            // becomes descriptor 1
    int error;             // becomes descriptor 2
    int group;             // an open cgroup v2 directory to be born in, or -1
    int group_processes;   // cgroup.procs open for writing, entered before exec, or -1
    int limit_processes;   // that of a group which bounds the number of tasks, entered before exec, or -1
    int processor;         // the only one it may use, or -1; one that does not exist changes nothing
    int first_in_first_out; // 1: under SCHED_FIFO, at the lowest priority, where that is allowed
};

// Where a spawn failed.
enum wake_stage {
    WAKE_STAGE_NONE = 0,
    WAKE_STAGE_CLONE = 1,
    WAKE_STAGE_DEATH_SIGNAL = 2,
    WAKE_STAGE_GROUP = 3,
    WAKE_STAGE_DESCRIPTORS = 4,
    WAKE_STAGE_DIRECTORY = 5,
    WAKE_STAGE_EXEC = 6,
    WAKE_STAGE_GUARD = 7,
};

struct wake_spawned {
    int pid;
    int pidfd; // close-on-exec, the caller's
    int stage; // enum wake_stage; not NONE: nothing runs, code says why
    int code;  // errno
};

// Starts a process that dies with the calling thread (PR_SET_PDEATHSIG): session and process group of its own, default
// signals, nothing open but 0 to 3. The caller waits, sharing its memory with the child, until exec has succeeded or
// failed, so a failure needs no pipe. Returns 0, or -1 with stage and code set.
int wake_spawn(const struct wake_spawn *request, struct wake_spawned *result);

// The highest number of the processors that this process may use; -1 when there is only one.
int wake_last_processor(void);
// Whether this process may start others under SCHED_FIFO: the calling thread tries.
int wake_may_run_first_in_first_out(void);

// How a process ended.
struct wake_exit {
    int pid;
    int status;               // the exit status, or the signal's number
    int signalled;            // 1 when a signal ended it
    int core;                 // 1 when it dumped core
    int64_t user_nanoseconds; // its own and that of its waited-for children
    int64_t system_nanoseconds;
    int64_t peak_bytes; // largest resident set
};

// waitid(2) with P_PIDFD and the rusage argument, which glibc hides. Reaps. 1: ended; 0: still runs.
int wake_wait(int pidfd, struct wake_exit *result);

// SIGSTOP's keeper. One small process for an app stands between it and the bench: it is the subreaper of the app's
// descendants, which therefore stay its descendants however they detach, and kills them all when the app's process has
// ended or the bench has gone. `channel` receives one wake_spawned and later one wake_exit packet. result->pid is the
// app's, keeper_pid the keeper's, and result->pidfd the keeper's, readable when all is over.
struct wake_keeper {
    int channel; // a packet on it, or its closing, and everything is killed
    int pid;
    int pidfd;
};
int wake_spawn_kept(const struct wake_spawn *request, struct wake_keeper *keeper, struct wake_spawned *result);
// The app's wake_exit, from a keeper's channel. 1: there it is; 0: the keeper ended without one.
int wake_kept_exit(int channel, struct wake_exit *result);

// The guardian of control groups: a process that outlives a bench that was killed, and then kills everything in the
// groups below `directory` and removes them. Returns the descriptor whose closing tells it, or -1.
struct wake_guardian {
    int channel;
    int pid;
};
int wake_guard_groups(const char *directory, int version, struct wake_guardian *guardian);
// The clean end: tells the guardian that nothing is left, and reaps it.
void wake_guardian_dismiss(struct wake_guardian *guardian);

// Kills everything in the groups below `directory`, waits until it is gone, and removes them and the directory. The
// number of processes killed is added to *killed. Also what the guardian runs, hence in C.
int wake_clear_groups(const char *directory, int version, int *killed);
// The same for one app's group.
int wake_clear_group(const char *directory, int version, int *killed);

// Whether a process of ours may enter the group: a child tries. 0, or -1 with errno.
int wake_try_group(int group_processes);

// The descendants of a process from one reading of /proc, at most `capacity`. The number, or -1. With states, a letter for
// each, of what all of its threads do: Z all have ended, T all others are stopped, D all others are stopped or wait in the
// kernel without hearing signals, R one runs or may, X it has gone.
int wake_descendants(int ancestor, int *pids, char *states, int capacity);

// From now on what its descendants leave behind becomes this process's own child. prctl(2) has variable arguments.
int wake_adopt_orphans(void);
// When a process was started, in clock ticks after the machine was; -1 when it is gone.
int64_t wake_start_time(int pid);
// Kills and reaps the children of this process that it adopted, and what those leave: those of another session that were
// started at or after `since` and are not among the kept. The number.
int wake_kill_orphans(int64_t since, const int *kept, int kept_count);

// Kills every process whose environment holds the text as one whole entry, apart from the caller. The number killed.
int wake_kill_marked(const char *entry);

// sendmsg(2) and recvmsg(2) with SCM_RIGHTS, whose macros Swift does not import. At most WAKE_MOST_DESCRIPTORS.
enum {
    WAKE_MOST_DESCRIPTORS = 16,
    // What the kernel lets one packet carry (SCM_MAX_FD). Fewer places, and it closes the others in recvmsg, which may wait.
    WAKE_MOST_RECEIVED = 253,
};
// 1: sent; 0: full; -1: errno (EPIPE, ECONNRESET: the other end is gone).
int wake_send(int socket, const void *bytes, size_t count, const int *descriptors, int descriptor_count);

// A packet that came. Without bytes it is an empty one, or the end of the socket. It is truncated when it was larger than
// there is room for, or this process may not have as many descriptors more as it carried.
struct wake_packet {
    const unsigned char *bytes;
    size_t size;
    const int *descriptors; // valid until the next packet is looked at
    int descriptor_count;
    int is_truncated;
};

// Room for the packets of one call. Those of them that are never needed are never touched.
enum { WAKE_MOST_PACKETS = 8 };
struct wake_mail;
struct wake_mail *wake_mail_make(size_t capacity);
void wake_mail_free(struct wake_mail *mail);
// recvmmsg(2), which tells in one call that no more is there. How many packets; -1 with errno (EAGAIN: none).
int wake_mail_receive(struct wake_mail *mail, int socket);
struct wake_packet wake_mail_packet(struct wake_mail *mail, int index);

// close(2) of what somebody else made may wait in the kernel, such as for what a TCP socket with SO_LINGER has not sent. A
// few threads of the C library do it, in which nothing of ours runs. The number of descriptors that wait for one of them.
int wake_close_later(int descriptor);

// Whether the other end is closed. POLLRDHUP is a GNU extension.
int wake_is_hung_up(int socket);

// A socket pair of packets; the first end non-blocking; both close-on-exec.
int wake_packet_pair(int ends[2]);

int wake_pidfd_open(int pid);
int wake_pidfd_kill(int pidfd, int signal);

// CPU time of a live process in nanoseconds, by its CPU clock; -1 when it is gone.
int64_t wake_cpu_time(int pid);

// L2CAP channels over Bluetooth LE (connection-oriented, kernel sockets). Socket calls want struct sockaddr, which Swift
// can make of no other structure without casting memory.
struct wake_channel_end {
    uint8_t address[6]; // most significant byte first
    uint8_t address_type; // BDADDR_LE_PUBLIC or BDADDR_LE_RANDOM
    uint16_t psm; // 0: any
};

// `level` is one of BT_SECURITY_SDP, which asks for nothing, to BT_SECURITY_HIGH.
// Both return a non-blocking, close-on-exec stream socket. A connection may still be in progress: when the socket is
// writable, wake_socket_error says how it came out.
int wake_channel_connect(const struct wake_channel_end *own, const struct wake_channel_end *other, int level);
int wake_channel_listen(const struct wake_channel_end *own, int level, int backlog);
// The fixed channel of the Attribute Protocol, on a link that the kernel makes when there is none: a non-blocking, close-on-exec
// socket of whole packets, in progress as above. The PSMs are 0.
int wake_attribute_connect(const struct wake_channel_end *own, const struct wake_channel_end *other);
// Fills in who it is. EAGAIN when nobody waits.
int wake_channel_accept(int listener, struct wake_channel_end *other);
// The PSM of a listening socket, which the kernel may have chosen.
int wake_channel_psm(int number);
// The pending error of a socket, an errno, 0 for none; getsockopt(2) wants untyped memory.
int wake_socket_error(int number);
// The most bytes of one write, or -1 when it is no L2CAP socket.
int wake_channel_send_size(int number);

// Two connected stream sockets, close-on-exec and non-blocking; socketpair(2)'s flags have a type that Swift does not
// combine.
int wake_stream_pair(int ends[2]);

// Memory to share with an app: sealed, so that the app can neither shrink it under the bench's feet nor grow it.
// memfd_create(2) is a GNU extension and fcntl(2) takes variable arguments. Close-on-exec.
int wake_shared_memory(const char *name, size_t bytes);
// A counter that one process adds to and another waits for: eventfd(2), which no module of Glibc has. Close-on-exec and
// non-blocking.
int wake_doorbell(void);

// A write that the kernel may let wait, such as one to hidraw, made by the C library's own threads (aio(7)). Rings the bell when
// it is over. The bytes are copied and both descriptors duplicated.
struct wake_later_write;
struct wake_later_write *wake_later_write_begin(int number, const void *bytes, size_t size, int bell);
// 1 when it is over, with how many bytes went or minus the error; 0 before.
int wake_later_write_result(struct wake_later_write *later, long *result);
// To be called once: nobody asks any more. It goes on where it cannot be taken back.
void wake_later_write_leave(struct wake_later_write *later);

// Lets this process have as many descriptors as it may ever have: how many that is, or -1. Those that it spawns have as many
// as it had before.
long wake_raise_descriptors(void);

// TCP sockets: what Glibc's own header of them leaves out, and ioctl, which has variable arguments.
struct wake_tcp_counts {
    uint64_t sent;     // bytes given to the other end, each once
    uint64_t received; // bytes that came
    uint32_t not_sent; // bytes that wait for the other end to have room
    int is_whole;      // whether neither end has ended its direction
};

int wake_tcp_counts(int number, struct wake_tcp_counts *counts);
// How many bytes there are to read; -1 when it is no socket that says so.
int wake_readable_bytes(int number);
// accept4, which Glibc hides from Swift: the connection is close-on-exec and does not wait.
int wake_accept(int listener);
// A TCP socket that does not wait, close-on-exec, and the type that getaddrinfo is asked for: the types of sockets are an enum that
// Swift does not see beside other modules that include it. -1 with errno.
int wake_tcp_socket(int family);
int wake_tcp_type(void);
// Ends the listening of a socket of another process, which this one may trace: it accepts nothing any more, and who connects
// to it is refused. The socket is told by its descriptor there and by its inode. 0, or -1 with errno.
int wake_end_listening(int pid, int number, uint64_t inode);
// The user of the socket at the other end of a TCP connection of this machine, by sock_diag(7), which looks for that one socket
// however many there are. 1: found; 0: no process has it any more; -1 with errno: the kernel does not say.
int wake_tcp_peer_user(int number, uint32_t *user);

// Sockets of packets with a name in the file system, non-blocking and close-on-exec: bind(2) and connect(2) want struct sockaddr.
// Only the owner may connect to the first. The path is one of at most 107 bytes.
int wake_packets_listen(const char *path);
int wake_packets_connect(const char *path);
// The same of bytes.
int wake_stream_listen(const char *path);
int wake_stream_connect(const char *path);
// The user at the other end of such a socket; SO_PEERCRED's structure is a GNU extension. -1 when it is not known.
int wake_peer_user(int socket);
// The process there: of one that was connected to, the process that listens, as this one's namespace has it. -1 or 0 the same.
int wake_peer_process(int socket);

// rtnetlink(7): a socket that becomes readable when a link or a route of this machine changes, non-blocking and close-on-exec; -1
// with errno.
int wake_routes_open(void);

// Starts a process that does not end with this one: a session of its own, no signals blocked or ignored, nothing open but
// `socket` as descriptor 3, / as its folder, this one's environment. The error number, which posix_spawn(3) returns; 0 when it runs. Its attribute for
// sessions and its file actions for folders and ranges are GNU extensions. wake_kill_orphans leaves it alone.
int wake_spawn_apart(const char *path, const char *const *arguments, int socket, int *pid);
// A process that was started so has been reaped. Its number may be another one's, which wake_kill_orphans does not leave alone.
void wake_reaped(int pid);

// The HCI monitor: a socket that hears all that goes between this machine's Bluetooth controllers and their stacks, with the
// kernel's times, non-blocking and close-on-exec. Its address is a struct sockaddr_hci, and CMSG macros are none of Swift's.
// `room` is how many bytes may wait; EPERM without CAP_NET_RAW.
int wake_monitor_open(int room);
// The next packet, and when the kernel had it in nanoseconds since 1970 (0: it does not say). `is_cut`: it was longer than `size`.
// Works with any socket of packets.
ssize_t wake_monitor_receive(int number, void *bytes, size_t size, int64_t *time, int *is_cut);
// How many packets a socket had no room for since it was made; -1 where the kernel does not say. SO_MEMINFO is no constant of Glibc's.
long wake_lost_packets(int number);
