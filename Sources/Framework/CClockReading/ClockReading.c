// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "ClockReading.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// Functions of Swift and Foundation that read a clock, under the names that the compiler calls. The linker prefers
// these to the libraries' functions. Each calls the library's function, so that the clock shows the same time. Until a
// test opens a field, they do nothing else.
//
// They are in C, because a Swift module can't define a function of another module that it also calls.

static _Atomic(nfc_clock_observer) current;

void nfc_observe_clocks(nfc_clock_observer observer) { atomic_store(&current, observer); }

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
// The library may change the size of an instant, so the caller passes the address of its memory.
#define RESULT __attribute__((swift_indirect_result))

#define CLOCK(CLOCK, TYPE, FUNCTION, SYMBOL, PARAMETERS, ARGUMENTS)                                                  \
    SWIFT TYPE FUNCTION PARAMETERS __asm__(SYMBOL);                                                                  \
    SWIFT TYPE FUNCTION PARAMETERS {                                                                                 \
        static _Atomic(void *) found;                                                                                \
        void *original = atomic_load_explicit(&found, memory_order_relaxed);                                         \
        if (!original) {                                                                                             \
            original = dlsym(RTLD_NEXT, SYMBOL);                                                                     \
            if (!original) abort();                                                                                  \
            atomic_store_explicit(&found, original, memory_order_relaxed);                                           \
        }                                                                                                            \
        nfc_clock_observer observer = atomic_load_explicit(&current, memory_order_acquire);                          \
        if (observer) observer(CLOCK, __builtin_return_address(0));                                                  \
        return ((SWIFT TYPE(*) PARAMETERS)original)ARGUMENTS;                                                        \
    }

CLOCK("Date()", double, date_init, "$s20FoundationEssentials4DateVACycfC", (void), ())
CLOCK("Date()", double, date_now, "$s20FoundationEssentials4DateV3nowACvgZ", (void), ())
CLOCK("Date()", double, time_since_now, "$s20FoundationEssentials4DateV20timeIntervalSinceNowSdvg", (double date),
      (date))
CLOCK("ContinuousClock.now", void, continuous_now, "$ss15ContinuousClockV3nowAB7InstantVvgZ",
      (RESULT void *instant, SELF void *self), (instant, self))
CLOCK("ContinuousClock.now", void, continuous_instance_now, "$ss15ContinuousClockV3nowAB7InstantVvg",
      (RESULT void *instant, SELF void *self), (instant, self))
CLOCK("SuspendingClock.now", void, suspending_now, "$ss15SuspendingClockV3nowAB7InstantVvgZ",
      (RESULT void *instant, SELF void *self), (instant, self))
CLOCK("SuspendingClock.now", void, suspending_instance_now, "$ss15SuspendingClockV3nowAB7InstantVvg",
      (RESULT void *instant, SELF void *self), (instant, self))
CLOCK("ProcessInfo.systemUptime", double, system_uptime, "$s20FoundationEssentials11ProcessInfoC12systemUptimeSdvg",
      (SELF void *self), (self))
CLOCK("DispatchTime.now()", uint64_t, uptime_nanoseconds, "$s8Dispatch0A4TimeV17uptimeNanosecondss6UInt64Vvg",
      (uint64_t time), (time))
CLOCK("DispatchTime.now()", bool, is_earlier, "$s8Dispatch0A4TimeV1loiySbAC_ACtFZ", (uint64_t one, uint64_t other),
      (one, other))
