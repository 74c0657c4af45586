#pragma once

#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>

// What Swift cannot call of libmicrohttpd: functions that take variable arguments.

struct wake_http_limits {
    unsigned int connections;
    // Seconds without a byte either way, after which a connection is closed.
    unsigned int patience;
    // Bytes for the head of a request.
    size_t memory;
};

// A server on 127.0.0.1 that does nothing but in MHD_run; NULL with errno when it cannot be.
static inline struct MHD_Daemon *wake_http_start(
    uint16_t port, struct wake_http_limits limits, MHD_NotifyConnectionCallback moved, MHD_AccessHandlerCallback asked,
    MHD_RequestCompletedCallback ended, void *context)
{
    struct sockaddr_in address;
    memset(&address, 0, sizeof address);
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL, asked, context,
        MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
        MHD_OPTION_NOTIFY_CONNECTION, moved, context,
        MHD_OPTION_NOTIFY_COMPLETED, ended, context,
        MHD_OPTION_CONNECTION_LIMIT, limits.connections,
        MHD_OPTION_CONNECTION_TIMEOUT, limits.patience,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits.memory,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_END);
}

// Readable when MHD_run has something to do; -1 when there is none.
static inline int wake_http_descriptor(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info ? info->epoll_fd : -1;
}

static inline uint16_t wake_http_port(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
    return info ? info->port : 0;
}

// The descriptor of a connection.
static inline int wake_http_socket(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

// What Swift sees in another form with each version of the header: enumerations that later ones call closed.

static const enum MHD_Result wake_http_yes = MHD_YES;
static const enum MHD_Result wake_http_no = MHD_NO;

static inline int wake_http_has_come(enum MHD_ConnectionNotificationCode how) { return how == MHD_CONNECTION_NOTIFY_STARTED; }

static inline const char *wake_http_field(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static inline const char *wake_http_argument(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

// The bytes are copied.
static inline struct MHD_Response *wake_http_response(size_t size, const void *bytes)
{
    return MHD_create_response_from_buffer(size, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}
