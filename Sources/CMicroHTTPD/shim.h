// HTTP: libmicrohttpd. Its variadic functions, and the flags that are only safe together, stay in this header.
#pragma once
#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/// A key and the certificate chain that belongs to it, in GnuTLS's terms. Nothing of it changes once it is made.
struct cmicrohttpd_identity {
    gnutls_privkey_t key;
    unsigned count;
    gnutls_pcert_st chain[8];
};

static inline void cmicrohttpd_drop_identity(struct cmicrohttpd_identity *identity) {
    for (unsigned i = 0; i < identity->count; i++) gnutls_pcert_deinit(&identity->chain[i]);
    if (identity->key) gnutls_privkey_deinit(identity->key);
    free(identity);
}

/// Whether a key is the one of a certificate.
static inline int cmicrohttpd_belong_together(gnutls_privkey_t key, gnutls_pubkey_t certified) {
    gnutls_pubkey_t own = NULL;
    unsigned char one[64], other[64];
    size_t one_size = sizeof one, other_size = sizeof other;
    int same = gnutls_pubkey_init(&own) == 0 && gnutls_pubkey_import_privkey(own, key, 0, 0) == 0 &&
        gnutls_pubkey_get_key_id(own, 0, one, &one_size) == 0 &&
        gnutls_pubkey_get_key_id(certified, 0, other, &other_size) == 0 && one_size == other_size &&
        memcmp(one, other, one_size) == 0;
    if (own) gnutls_pubkey_deinit(own);
    return same;
}

enum { CMICROHTTPD_NO_KEY = 1, CMICROHTTPD_NO_CERTIFICATE, CMICROHTTPD_NOT_TOGETHER };

/// Reads a key and a chain of up to 8 certificates, both PEM. Returns NULL, and in `fault` what was wrong, where they are none.
static inline struct cmicrohttpd_identity *cmicrohttpd_make_identity(const char *key, const char *certificate, int *fault) {
    struct cmicrohttpd_identity *made = calloc(1, sizeof *made);
    if (!made) return NULL;
    gnutls_datum_t text = {(unsigned char *)key, (unsigned)strlen(key)};
    *fault = CMICROHTTPD_NO_KEY;
    if (gnutls_privkey_init(&made->key) == 0 &&
        gnutls_privkey_import_x509_raw(made->key, &text, GNUTLS_X509_FMT_PEM, NULL, 0) == 0) {
        unsigned count = sizeof made->chain / sizeof *made->chain;
        text = (gnutls_datum_t){(unsigned char *)certificate, (unsigned)strlen(certificate)};
        *fault = CMICROHTTPD_NO_CERTIFICATE;
        if (gnutls_pcert_list_import_x509_raw(made->chain, &count, &text, GNUTLS_X509_FMT_PEM, 0) == 0 && count > 0) {
            made->count = count;
            *fault = CMICROHTTPD_NOT_TOGETHER;
            if (cmicrohttpd_belong_together(made->key, made->chain[0].pubkey)) return made;
        }
    }
    cmicrohttpd_drop_identity(made);
    return NULL;
}

/// How a server is started.
struct cmicrohttpd_options {
    /// Seconds without a byte in either direction after which a connection is closed.
    unsigned silent_seconds;
    /// Bytes of a connection's memory: a request's line and headers have to fit, and a response's.
    size_t memory;
    /// Gives each connection that begins its key and chain; NULL for plain HTTP. By `cmicrohttpd_of_session` it finds the connection.
    gnutls_certificate_retrieve_function2 *retrieve;
};

/// What is called back, always on one of the server's own threads.
struct cmicrohttpd_callbacks {
    void *context;
    /// A request's line has been read. What it returns stands for the request from then on.
    void *(*began)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback handle;
    MHD_RequestCompletedCallback ended;
    MHD_NotifyConnectionCallback connection;
};

/// Leaves a target as it was sent: what stands for what is decided in one place, and not here.
static inline size_t cmicrohttpd_as_it_is(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

/// Starts a server of one thread that listens nowhere and takes the connections that it is given, or returns NULL. SIGPIPE has to be
/// ignored by the program.
///
/// Not one server that listens: libmicrohttpd listens at one address, and takes none away and no other ones while it runs.
static inline struct MHD_Daemon *cmicrohttpd_start(
    const struct cmicrohttpd_options *options, const struct cmicrohttpd_callbacks *callbacks) {
    unsigned flags =
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC | MHD_USE_NO_LISTEN_SOCKET;
    if (options->retrieve) flags |= MHD_USE_TLS;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)options->retrieve},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL},
    };
    if (!options->retrieve) tls[0].option = MHD_OPTION_END;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, callbacks->handle, callbacks->context,
        // Who hands connections over counts them (Places): at this limit it would stand still for ever.
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)INT32_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, options->silent_seconds,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, options->memory,
        // Not 1: it then answers a request without a Host by itself, with two heads (in 0.9.75). We refuse those.
        MHD_OPTION_STRICT_FOR_CLIENT, 0,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
        MHD_OPTION_UNESCAPE_CALLBACK, cmicrohttpd_as_it_is, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks->began, callbacks->context,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks->ended, callbacks->context,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks->connection, callbacks->context,
        MHD_OPTION_ARRAY, tls, MHD_OPTION_END);
}

/// Gives a server a connection that was accepted elsewhere, which is the server's from then on, also where it has no place and closes
/// it. From any thread. Returns MHD_NO where it was closed.
static inline enum MHD_Result cmicrohttpd_add(struct MHD_Daemon *daemon, int socket) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    // Its client may have gone already.
    if (getpeername(socket, (struct sockaddr *)&address, &length) != 0) {
        close(socket);
        return MHD_NO;
    }
    return MHD_add_connection(daemon, socket, (struct sockaddr *)&address, length);
}

/// The connection that a session of TLS is of; libmicrohttpd puts it there before the first byte.
static inline struct MHD_Connection *cmicrohttpd_of_session(gnutls_session_t session) {
    return gnutls_session_get_ptr(session);
}

/// The socket of a connection, or -1.
static inline int cmicrohttpd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// The address of the other side, or NULL.
static inline const struct sockaddr *cmicrohttpd_client(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/// What the connection's own callback has put there, or NULL.
static inline void *cmicrohttpd_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

/// Where the line of a head begins that has not been looked at yet; NULL once one was not as it has to be.
struct cmicrohttpd_lines {
    const char *next;
};

static inline enum MHD_Result cmicrohttpd_follows(
    void *lines, enum MHD_ValueKind kind, const char *key, size_t key_size, const char *value, size_t size) {
    (void)kind, (void)key_size;
    struct cmicrohttpd_lines *expected = lines;
    if (!expected->next || key != expected->next || !value || value[size] != 0 || value[size + 1] != 0) {
        expected->next = NULL;
        return MHD_NO;
    }
    expected->next = value + size + 2;
    return MHD_YES;
}

/// Whether the lines of a request's head end in CR and LF, and none has a NUL: libmicrohttpd takes a line that ends in LF alone, and
/// hands out what stands before a NUL, so that a proxy in front could see another request than we do (RFC 9112, 2.2 and 11.2). It
/// writes a NUL over each end of a line, in the buffer that its texts point into: over CR and LF are two of them, and behind those the
/// next line begins. Behind each text the whole head has been read by now, so nothing beyond the buffer is looked at.
///
/// What it hides is a CR without LF: it takes the byte behind that for the LF, whatever it was.
/// - target_length: of the target as it came, before libmicrohttpd has cut it.
static inline int cmicrohttpd_is_well_formed(
    struct MHD_Connection *connection, const char *method, const char *url, const char *version, size_t target_length) {
    static const size_t version_length = sizeof "HTTP/1.1" - 1;
    if (version != url + target_length + 1) return 0;
    if (strlen(version) != version_length || version[version_length + 1] != 0) return 0;
    struct cmicrohttpd_lines lines = {version + version_length + 2};
    if (MHD_get_connection_values_n(connection, MHD_HEADER_KIND, cmicrohttpd_follows, &lines) < 0) return 0;
    const union MHD_ConnectionInfo *size = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    // The empty line at its end.
    return size && lines.next && lines.next + 2 == method + size->header_size;
}

/// Gives up a response, whose memory goes with its last user.
static inline void cmicrohttpd_drop(struct MHD_Response *response) { MHD_destroy_response(response); }

enum {
    /// What a response's callback returns when nothing more comes.
    CMICROHTTPD_END = -1,
    /// The same where the rest could not be made: the connection is closed, so that the client does not take it for the end.
    CMICROHTTPD_BROKEN = -2,
};

/// Size of a response of which nobody knows how long it gets.
static const uint64_t cmicrohttpd_unknown_size = UINT64_MAX;
