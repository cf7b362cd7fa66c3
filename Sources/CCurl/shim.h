// HTTP as a client: libcurl. Its variadic functions stay in this header, each as one function for each type of value.
#pragma once
#include <curl/curl.h>
#include <stdint.h>

/// Whether `option` takes a value of one of these types. A variadic function would read a value of the wrong type as
/// memory that is not its own, so each function below asks first.
static inline int ccurl_takes(CURLoption option, curl_easytype one, curl_easytype other) {
    const struct curl_easyoption *found = curl_easy_option_by_id(option);
    return found && (found->type == one || found->type == other);
}

/// To be called before anything else, once. 0, or why the library cannot be used.
static inline CURLcode ccurl_prepare(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

/// Numbers, and switches (0, 1).
static inline CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) {
    if (!ccurl_takes(option, CURLOT_LONG, CURLOT_VALUES)) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_setopt(easy, option, value);
}

/// Bytes of a file or a body.
static inline CURLcode ccurl_set_bytes(CURL *easy, CURLoption option, int64_t value) {
    if (!ccurl_takes(option, CURLOT_OFF_T, CURLOT_OFF_T)) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_setopt(easy, option, (curl_off_t)value);
}

/// Text, which is copied. NULL takes back what was set, or what the library was built with.
static inline CURLcode ccurl_set_text(CURL *easy, CURLoption option, const char *value) {
    if (!ccurl_takes(option, CURLOT_STRING, CURLOT_STRING)) return CURLE_BAD_FUNCTION_ARGUMENT;
    return curl_easy_setopt(easy, option, value);
}

/// The body of a POST, which is copied.
static inline CURLcode ccurl_set_body(CURL *easy, const void *bytes, size_t count) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)count);
    if (result != CURLE_OK) return result;
    return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, count ? (const char *)bytes : "");
}

/// Headers of a request. Not copied: the list has to stay until the handle has been freed.
static inline CURLcode ccurl_set_headers(CURL *easy, struct curl_slist *list) {
    return curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list);
}

/// A form as the body of a POST. Not copied: it has to stay until the handle has been freed.
static inline CURLcode ccurl_set_form(CURL *easy, curl_mime *form) {
    return curl_easy_setopt(easy, CURLOPT_MIMEPOST, form);
}

/// Whom the handle calls back, always inside curl_multi_perform and with the same context.
struct ccurl_callbacks {
    void *context;
    curl_write_callback header, body;
    curl_prereq_callback before_request;
};

static inline CURLcode ccurl_set_callbacks(CURL *easy, const struct ccurl_callbacks *callbacks) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, callbacks->header);
    if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_HEADERDATA, callbacks->context);
    if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, callbacks->body);
    if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_WRITEDATA, callbacks->context);
    if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callbacks->before_request);
    if (result == CURLE_OK) result = curl_easy_setopt(easy, CURLOPT_PREREQDATA, callbacks->context);
    return result;
}

/// How many connections there are at most: to one host, and in all.
static inline CURLMcode ccurl_limit_connections(CURLM *multi, long of_host, long in_all) {
    CURLMcode result = curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, of_host);
    if (result == CURLM_OK) result = curl_multi_setopt(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, in_all);
    if (result == CURLM_OK) result = curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, in_all);
    return result;
}

/// How a transfer ended, of a message that says that it did.
static inline CURLcode ccurl_result(const CURLMsg *message) { return message->data.result; }

enum {
    /// What a callback for the form's file returns to end the transfer.
    CCURL_READ_ABORT = CURL_READFUNC_ABORT,
    CCURL_TLS_1_2 = CURL_SSLVERSION_TLSv1_2,
    CCURL_NO_NETRC = CURL_NETRC_IGNORED,
    CCURL_HTTP_1_1 = CURL_HTTP_VERSION_1_1,
};
