// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdbool.h>
#include <stdint.h>

/// Returns whether a TCP socket is or was connected, even after the peer has reset the connection.
bool fleet_was_connected(int socket);

/// Returns how many bytes the peer has acknowledged. Sets `is_waiting` if more bytes await acknowledgement.
uint64_t fleet_acknowledged(int socket, bool *is_waiting);

/// Makes the system discard unsent data when the socket is closed.
void fleet_discard(int socket);
