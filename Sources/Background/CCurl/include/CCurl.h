// SPDX-License-Identifier: Apache-2.0 Downloads over HTTPS with the system's libcurl. The library is opened at run
// time, and builds need no headers.
#ifndef OPENCORENFC_CURL_H
#define OPENCORENFC_CURL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

// The results of a download. The values are those of CURLcode, which never change. Other values are possible too.
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

// Receives a download. The functions are called on the thread of the download, with `context` as the first argument. If
// a function returns false, the download ends.
struct ocn_curl_receiver {
    void *context;
    // Decides whether to connect to an address. Called right before each connection.
    bool (*may_connect)(void *context, const struct sockaddr *address);
    // Receives a line of the answer's head, with its line end. An empty line ends the head. Lines may follow the file
    // too.
    bool (*take_line)(void *context, const char *bytes, size_t size);
    // Receives the next part of the file.
    bool (*take_body)(void *context, const char *bytes, size_t size);
};

// Details about a download that has ended.
struct ocn_curl_error {
    // libcurl's text for the error; may be empty (CURL_ERROR_SIZE).
    char text[256];
    // The errno of a failed connection; 0 if unknown.
    long number;
    // The status of the last answer; 0 without an answer.
    long status;
};

// Opens and initializes libcurl on the first call. Any thread may call this.
//
// Returns false if libcurl is not installed or lacks a function.
bool ocn_curl_load(void);

// Downloads a file by HTTPS: TLS 1.2 or later with a verified certificate, HTTP/1.1, no redirects, proxies, cookies or
// passwords. Call ocn_curl_load first, and block SIGPIPE in the calling thread.
//
//   connect_to   where to connect to in place of the URL's host, in the form of CURLOPT_CONNECT_TO; NULL for the host itself
//   authorities  a file of certificates in PEM that are trusted in place of the system's; NULL for the system's
enum ocn_curl_result ocn_curl_download(const char *url, const char *connect_to, const char *authorities,
                                       long milliseconds, long maximum_size,
                                       const struct ocn_curl_receiver *receiver, struct ocn_curl_error *error);

#endif
