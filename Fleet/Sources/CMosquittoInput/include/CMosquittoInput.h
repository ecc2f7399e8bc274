// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct mosquitto;

/// Looks at bytes of the broker before the library has them.
///
/// Returns whether the library may have them. After false, the library finds the end of the connection instead.
typedef bool fleet_inspection(void *context, const void *bytes, size_t count);

/// Calls `mosquitto_loop_read`, and shows to `inspect` all that the library reads, after the decryption.
int fleet_loop_read(struct mosquitto *mosquitto, int most_packets, fleet_inspection *inspect, void *context);

/// Returns whether a TCP socket is connected or was, also after the other side has reset the connection.
bool fleet_was_connected(int socket);
