// Certificates: GnuTLS, which libmicrohttpd's TLS is made of too. Its macros stay in this header.
#pragma once
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>

/// Frees what GnuTLS has put into a datum. `gnutls_free` is a variable that anybody may set, which Swift does not read.
static inline void cgnutls_free(gnutls_datum_t *datum) {
    gnutls_free(datum->data);
    datum->size = 0;
}

/// What a key of P-256 is asked for with.
static inline unsigned cgnutls_p256(void) { return GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1); }

/// The name that people see of a certificate. `size` is the room on the way in, and the length on the way out.
static inline int cgnutls_set_common_name(gnutls_x509_crt_t certificate, const void *name, unsigned size) {
    return gnutls_x509_crt_set_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, name, size);
}
static inline int cgnutls_get_common_name(gnutls_x509_crt_t certificate, void *name, size_t *size) {
    return gnutls_x509_crt_get_dn_by_oid(certificate, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, size);
}

/// That a certificate is for servers of TLS alone.
static inline int cgnutls_set_server_purpose(gnutls_x509_crt_t certificate) {
    return gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_SERVER, 0);
}
