// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// The declarations needed from curl.h. These numbers and types belong to libcurl's stable binary interface.
typedef struct curl_handle CURL;
struct curl_slist;
struct curl_sockaddr {
    int family;
    int socktype;
    int protocol;
    unsigned int addrlen;
    struct sockaddr addr;
};

enum {
    CURL_GLOBAL_DEFAULT = 3,
    CURL_HTTP_VERSION_1_1 = 2,
    CURL_SOCKET_BAD = -1,
    CURL_SSLVERSION_TLSv1_2 = 6,
    CURLE_FAILED_INIT = 2,
    CURLINFO_OS_ERRNO = 0x200000 + 25,
    CURLINFO_RESPONSE_CODE = 0x200000 + 2,
    CURLPROTO_HTTPS = 1 << 1,
};

// The ten thousands are the type of the value: 0 long, 1 pointer, 2 function.
enum {
    CURLOPT_SSLVERSION = 32,
    CURLOPT_FOLLOWLOCATION = 52,
    CURLOPT_SSL_VERIFYPEER = 64,
    CURLOPT_SSL_VERIFYHOST = 81,
    CURLOPT_HTTP_VERSION = 84,
    CURLOPT_NOSIGNAL = 99,
    CURLOPT_MAXFILESIZE = 114,
    CURLOPT_TIMEOUT_MS = 155,
    CURLOPT_PROTOCOLS = 181,
    CURLOPT_HTTP09_ALLOWED = 285,
    CURLOPT_QUICK_EXIT = 322,
    CURLOPT_WRITEDATA = 10001,
    CURLOPT_URL = 10002,
    CURLOPT_PROXY = 10004,
    CURLOPT_ERRORBUFFER = 10010,
    CURLOPT_USERAGENT = 10018,
    CURLOPT_HTTPHEADER = 10023,
    CURLOPT_HEADERDATA = 10029,
    CURLOPT_CAINFO = 10065,
    CURLOPT_CAPATH = 10097,
    CURLOPT_OPENSOCKETDATA = 10164,
    CURLOPT_CONNECT_TO = 10243,
    CURLOPT_PROTOCOLS_STR = 10318,
    CURLOPT_WRITEFUNCTION = 20011,
    CURLOPT_HEADERFUNCTION = 20079,
    CURLOPT_OPENSOCKETFUNCTION = 20163,
};

#define CURL_FUNCTIONS(FUNCTION)                                                      \
    FUNCTION(int, curl_global_init, (long flags))                                     \
    FUNCTION(CURL *, curl_easy_init, (void))                                          \
    FUNCTION(int, curl_easy_setopt, (CURL * handle, int option, ...))                 \
    FUNCTION(int, curl_easy_perform, (CURL * handle))                                 \
    FUNCTION(int, curl_easy_getinfo, (CURL * handle, int information, ...))           \
    FUNCTION(void, curl_easy_cleanup, (CURL * handle))                                \
    FUNCTION(struct curl_slist *, curl_slist_append, (struct curl_slist *, const char *)) \
    FUNCTION(void, curl_slist_free_all, (struct curl_slist * list))

// Declares a function pointer for each function. load() finds the functions in the library.
#define DECLARE(type, name, parameters) static type(*name) parameters;
#define FIND(type, name, parameters) &&(name = dlsym(library, #name)) != NULL

CURL_FUNCTIONS(DECLARE)

static bool is_loaded;

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    // Debian's build with GnuTLS has the same functions.
    if (library == NULL) library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
    is_loaded = library != NULL CURL_FUNCTIONS(FIND) && curl_global_init(CURL_GLOBAL_DEFAULT) == 0;
}

bool ocn_curl_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return is_loaded;
}

static int open_socket(void *context, int purpose, struct curl_sockaddr *address) {
    const struct ocn_curl_receiver *receiver = context;
    (void)purpose;
    if (!receiver->may_connect(receiver->context, &address->addr)) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

static size_t take_line(char *bytes, size_t size, size_t count, void *context) {
    const struct ocn_curl_receiver *receiver = context;
    return receiver->take_line(receiver->context, bytes, size * count) ? size * count : 0;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    const struct ocn_curl_receiver *receiver = context;
    return receiver->take_body(receiver->context, bytes, size * count) ? size * count : 0;
}

// Sets an option, unless an earlier option was refused.
#define SET(option, value) (result = result != 0 ? result : curl_easy_setopt(handle, option, value))

// The settings of every download.
static int set_rules(CURL *handle, const struct curl_slist *fields) {
    int result = 0;
    // Before 7.85, only the older option exists. Later versions may drop it.
    if (curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "https") != 0) SET(CURLOPT_PROTOCOLS, (long)CURLPROTO_HTTPS);
    SET(CURLOPT_FOLLOWLOCATION, 0L);
    // Ignores the proxies in the environment.
    SET(CURLOPT_PROXY, "");
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_HTTP09_ALLOWED, 0L);
    SET(CURLOPT_USERAGENT, "OpenCoreNFC");
    SET(CURLOPT_HTTPHEADER, fields);
    SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    SET(CURLOPT_SSL_VERIFYPEER, 1L);
    SET(CURLOPT_SSL_VERIFYHOST, 2L);
    SET(CURLOPT_NOSIGNAL, 1L);
    // Prevents the system's resolver from delaying the end of a download beyond its time limit. Missing before 7.87.
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
    return result;
}

static int set_receiver(CURL *handle, const struct ocn_curl_receiver *receiver) {
    int result = 0;
    SET(CURLOPT_OPENSOCKETFUNCTION, open_socket);
    SET(CURLOPT_OPENSOCKETDATA, receiver);
    SET(CURLOPT_HEADERFUNCTION, take_line);
    SET(CURLOPT_HEADERDATA, receiver);
    SET(CURLOPT_WRITEFUNCTION, take_body);
    SET(CURLOPT_WRITEDATA, receiver);
    return result;
}

static int set_authorities(CURL *handle, const char *file) {
    int result = 0;
    SET(CURLOPT_CAINFO, file);
    // Otherwise the system's folder of certificates would be trusted too.
    SET(CURLOPT_CAPATH, (const char *)NULL);
    return result;
}

// Appends a text to a list. Returns false and leaves the list unchanged if memory runs out.
static bool append(struct curl_slist **list, const char *text) {
    struct curl_slist *longer = curl_slist_append(*list, text);
    if (longer != NULL) *list = longer;
    return longer != NULL;
}

enum ocn_curl_result ocn_curl_download(const char *url, const char *connect_to, const char *authorities,
                                       long milliseconds, long maximum_size,
                                       const struct ocn_curl_receiver *receiver, struct ocn_curl_error *error) {
    memset(error, 0, sizeof *error);
    struct curl_slist *fields = NULL, *destinations = NULL;
    int result = CURLE_FAILED_INIT;
    CURL *handle = curl_easy_init();
    if (handle == NULL) return result;
    if (append(&fields, "Accept: application/json") && append(&fields, "Accept-Encoding: identity")
        && append(&fields, "Connection: close") && (connect_to == NULL || append(&destinations, connect_to))) {
        result = set_rules(handle, fields);
        if (result == 0) result = set_receiver(handle, receiver);
        if (authorities != NULL && result == 0) result = set_authorities(handle, authorities);
        SET(CURLOPT_ERRORBUFFER, error->text);
        SET(CURLOPT_URL, url);
        SET(CURLOPT_CONNECT_TO, destinations);
        SET(CURLOPT_TIMEOUT_MS, milliseconds);
        SET(CURLOPT_MAXFILESIZE, maximum_size);
    }
    if (result == 0) {
        result = curl_easy_perform(handle);
        curl_easy_getinfo(handle, CURLINFO_OS_ERRNO, &error->number);
        curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &error->status);
    }
    curl_easy_cleanup(handle);
    curl_slist_free_all(fields);
    curl_slist_free_all(destinations);
    return result;
}
