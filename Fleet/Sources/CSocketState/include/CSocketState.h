// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Returns whether a TCP socket is connected or was, also after the other side has reset the connection.
bool fleet_was_connected(int socket);

/// Reports how many bytes the other side has acknowledged, and whether others wait for that.
uint64_t fleet_acknowledged(int socket, bool *is_waiting);

/// Has the system discard what was not sent when the socket is closed.
void fleet_discard(int socket);
