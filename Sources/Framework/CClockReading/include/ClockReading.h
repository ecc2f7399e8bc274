// SPDX-License-Identifier: Apache-2.0
#ifndef CLOCK_READING_H
#define CLOCK_READING_H

/// Called for each reading of a clock, on the reading thread. `clock` is the call as a client writes it, and `caller`
/// the code that the reading returns to.
typedef void (*nfc_clock_observer)(const char *_Nonnull clock, const void *_Nonnull caller);

/// Sets the function that is called for each reading of a clock.
void nfc_observe_clocks(nfc_clock_observer _Nonnull observer);

/// Called for each `Thread.sleep(forTimeInterval:)`, on the sleeping thread. Returns whether it has slept.
typedef _Bool (*nfc_sleep)(double seconds);

/// Sets the function that may sleep in place of `Thread.sleep(forTimeInterval:)`.
void nfc_replace_sleep(nfc_sleep _Nonnull sleep);

#endif
