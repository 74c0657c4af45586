// What Swift cannot call of libcurl: setopt and getinfo take variable arguments, whose type depends on the option. One function
// for each type of argument.
#pragma once

#include <curl/curl.h>

// Options that take a long.
CURLcode wake_curl_set_number(CURL *easy, CURLoption option, long value);
// Options that take a size in bytes, which is wider than a long on some machines.
CURLcode wake_curl_set_size(CURL *easy, CURLoption option, curl_off_t value);
// Options that take a string, which libcurl copies.
CURLcode wake_curl_set_text(CURL *easy, CURLoption option, const char *value);
// The request's own header fields. The list stays the caller's, and outlives the handle's use.
CURLcode wake_curl_set_fields(CURL *easy, struct curl_slist *fields);

// The callbacks of an exchange, which all get the same context: they are options that take functions.
struct wake_curl_exchange {
    size_t (*header)(char *bytes, size_t size, size_t count, void *context);
    size_t (*body)(char *bytes, size_t size, size_t count, void *context);
    size_t (*upload)(char *bytes, size_t size, size_t count, void *context);
    int (*seek)(void *context, curl_off_t offset, int origin);
};
CURLcode wake_curl_set_callbacks(CURL *easy, const struct wake_curl_exchange *callbacks, void *context);

// What is told as a string, libcurl's own; NULL when there is none.
const char *wake_curl_text(CURL *easy, CURLINFO info);

// The callbacks by which an event loop drives all exchanges: options of the multi interface that take functions.
CURLMcode wake_curl_multi_set_callbacks(CURLM *multi, curl_socket_callback socket, curl_multi_timer_callback timer, void *context);

// The next exchange that is over, with its result, which libcurl keeps in a union; NULL when there is none.
CURL *wake_curl_multi_next_done(CURLM *multi, CURLcode *result);
