// SPDX-License-Identifier: Apache-2.0
// Functions of sd-bus, from the system's libsystemd. The library is opened at run time, so a build does not need its
// headers. The library's sd_bus_NAME is ocn_bus_NAME here, with the same parameters and results (sd-bus(3)).
#ifndef OPENCORENFC_SD_BUS_H
#define OPENCORENFC_SD_BUS_H

#include <stddef.h>
#include <stdint.h>

// The declarations needed from sd-bus.h.
typedef struct sd_bus sd_bus;
typedef struct sd_bus_message sd_bus_message;
typedef struct {
    const char *name;
    const char *message;
    int needs_free;
} sd_bus_error;

// Opens libsystemd on the first call. Call this before the other functions. Any thread may call it.
//
// Returns NULL if nothing is missing, "" if the library is missing, or the name of a missing function.
const char *ocn_bus_missing(void);

// Lists each function: its result, name, parameters, and the same parameters as arguments.
#define OCN_BUS_FUNCTIONS(FUNCTION)                                                                                        \
    FUNCTION(int, open_user, (sd_bus * *bus), (bus))                                                                       \
    FUNCTION(int, open_system, (sd_bus * *bus), (bus))                                                                     \
    FUNCTION(int, new, (sd_bus * *bus), (bus))                                                                             \
    FUNCTION(int, set_address, (sd_bus * bus, const char *address), (bus, address))                                        \
    FUNCTION(int, set_bus_client, (sd_bus * bus, int is_client), (bus, is_client))                                         \
    FUNCTION(int, start, (sd_bus * bus), (bus))                                                                            \
    FUNCTION(sd_bus *, close_unref, (sd_bus * bus), (bus))                                                                 \
    FUNCTION(int, get_fd, (sd_bus * bus), (bus))                                                                           \
    FUNCTION(int, is_ready, (sd_bus * bus), (bus))                                                                         \
    FUNCTION(int, get_events, (sd_bus * bus), (bus))                                                                       \
    FUNCTION(int, process, (sd_bus * bus, sd_bus_message **message), (bus, message))                                       \
    FUNCTION(int, wait, (sd_bus * bus, uint64_t microseconds), (bus, microseconds))                                        \
    FUNCTION(int, send, (sd_bus * bus, sd_bus_message *message, uint64_t *cookie), (bus, message, cookie))                 \
    FUNCTION(int, message_new_method_call,                                                                                 \
             (sd_bus * bus, sd_bus_message **message, const char *destination, const char *path, const char *interface,    \
              const char *member),                                                                                         \
             (bus, message, destination, path, interface, member))                                                         \
    FUNCTION(int, message_new_method_return, (sd_bus_message * call, sd_bus_message **message), (call, message))           \
    FUNCTION(int, message_new_method_error, (sd_bus_message * call, sd_bus_message **message, const sd_bus_error *error), \
             (call, message, error))                                                                                       \
    FUNCTION(int, message_new_signal,                                                                                      \
             (sd_bus * bus, sd_bus_message **message, const char *path, const char *interface, const char *member),        \
             (bus, message, path, interface, member))                                                                      \
    FUNCTION(sd_bus_message *, message_unref, (sd_bus_message * message), (message))                                       \
    FUNCTION(int, message_get_type, (sd_bus_message * message, uint8_t *type), (message, type))                            \
    FUNCTION(int, message_get_reply_cookie, (sd_bus_message * message, uint64_t *cookie), (message, cookie))               \
    FUNCTION(const char *, message_get_sender, (sd_bus_message * message), (message))                                      \
    FUNCTION(const char *, message_get_path, (sd_bus_message * message), (message))                                        \
    FUNCTION(const char *, message_get_interface, (sd_bus_message * message), (message))                                   \
    FUNCTION(const char *, message_get_member, (sd_bus_message * message), (message))                                      \
    FUNCTION(const sd_bus_error *, message_get_error, (sd_bus_message * message), (message))                               \
    FUNCTION(int, message_append_basic, (sd_bus_message * message, char type, const void *value), (message, type, value))  \
    FUNCTION(int, message_append_array, (sd_bus_message * message, char type, const void *elements, size_t size),          \
             (message, type, elements, size))                                                                              \
    FUNCTION(int, message_open_container, (sd_bus_message * message, char type, const char *contents),                     \
             (message, type, contents))                                                                                    \
    FUNCTION(int, message_close_container, (sd_bus_message * message), (message))                                          \
    FUNCTION(int, message_has_signature, (sd_bus_message * message, const char *signature), (message, signature))          \
    FUNCTION(int, message_peek_type, (sd_bus_message * message, char *type, const char **contents),                        \
             (message, type, contents))                                                                                    \
    FUNCTION(int, message_read_basic, (sd_bus_message * message, char type, void *value), (message, type, value))          \
    FUNCTION(int, message_read_array, (sd_bus_message * message, char type, const void **elements, size_t *size),          \
             (message, type, elements, size))                                                                              \
    FUNCTION(int, message_enter_container, (sd_bus_message * message, char type, const char *contents),                    \
             (message, type, contents))                                                                                    \
    FUNCTION(int, message_exit_container, (sd_bus_message * message), (message))

#define OCN_BUS_MEMBER(type, name, parameters, arguments) type(*name) parameters;
struct ocn_bus_functions {
    OCN_BUS_FUNCTIONS(OCN_BUS_MEMBER)
};
#undef OCN_BUS_MEMBER

// The functions. Use them only after ocn_bus_missing() has returned NULL.
extern struct ocn_bus_functions ocn_bus;

#define OCN_BUS_CALL(type, name, parameters, arguments) \
    static inline type ocn_bus_##name parameters {      \
        return ocn_bus.name arguments;                  \
    }
OCN_BUS_FUNCTIONS(OCN_BUS_CALL)
#undef OCN_BUS_CALL

#endif
