// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Sends a command to the card in a reader over and over, by SCardTransmit and nothing else.
///
/// `nanoseconds` gets the time of each exchange. Returns 0, or the code of the call that failed.
long card_loop(const char *reader, const uint8_t *command, size_t length, size_t count, uint64_t *nanoseconds);
