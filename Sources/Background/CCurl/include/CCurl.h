// SPDX-License-Identifier: Apache-2.0
// Downloads over HTTPS with the system's libcurl. The library is opened at run time, and its headers are not needed to build.
#ifndef OPENCORENFC_CURL_H
#define OPENCORENFC_CURL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

// How a download ended. The values are those of CURLcode, which never change; there are more of them.
enum ocn_curl_result {
    ocn_curl_ok = 0,
    ocn_curl_unsupported_protocol = 1,
    ocn_curl_unknown_host = 6,
    ocn_curl_no_connection = 7,
    ocn_curl_bad_answer = 8,
    ocn_curl_partial_file = 18,
    ocn_curl_timeout = 28,
    ocn_curl_tls_failed = 35,
    ocn_curl_empty_answer = 52,
    ocn_curl_send_failed = 55,
    ocn_curl_receive_failed = 56,
    ocn_curl_bad_certificate = 60,
    ocn_curl_too_large = 63,
    ocn_curl_bad_authorities = 77,
};

// Who receives a download. The functions are called in the thread of the download, with `context` as their first argument; the
// download ends where one returns false.
struct ocn_curl_receiver {
    void *context;
    // Decides whether a connection to an address is made. It is called right before connecting to that very address.
    bool (*may_connect)(void *context, const struct sockaddr *address);
    // Takes one line of the answer's head, with its line end. The empty line ends a head; lines may follow the file too.
    bool (*take_line)(void *context, const char *bytes, size_t size);
    // Takes the next part of the file.
    bool (*take_body)(void *context, const char *bytes, size_t size);
};

// What is known of a download that ended.
struct ocn_curl_error {
    // libcurl's text, empty where it has none (CURL_ERROR_SIZE).
    char text[256];
    // The errno of a connection that could not be made; 0 where it is unknown.
    long number;
    // The status of the last answer; 0 where there was none.
    long status;
};

// Opens libcurl and initializes it, the first time that it is called. Any thread may call it.
//
// Returns false where libcurl is not installed, or lacks a function.
bool ocn_curl_load(void);

// Downloads by HTTPS alone: TLS 1.2 or later with a verified certificate, HTTP/1.1, no redirects, no proxies, no cookies, no
// passwords. Call ocn_curl_load first, and block SIGPIPE in the calling thread.
//
//   connect_to   where to connect to in place of the URL's host, in the form of CURLOPT_CONNECT_TO; NULL for the host itself
//   authorities  a file of certificates in PEM that are trusted in place of the system's; NULL for the system's
enum ocn_curl_result ocn_curl_download(const char *url, const char *connect_to, const char *authorities,
                                       long milliseconds, long maximum_size,
                                       const struct ocn_curl_receiver *receiver, struct ocn_curl_error *error);

#endif
