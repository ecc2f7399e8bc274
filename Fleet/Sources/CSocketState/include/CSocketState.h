// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdbool.h>

/// Returns whether a TCP socket is connected or was, also after the other side has reset the connection.
bool fleet_was_connected(int socket);
