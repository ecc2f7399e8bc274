// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "ClockReading.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// Functions of Swift and Foundation that read a clock or sleep, under the names that the compiler calls. The linker prefers
// these to the libraries' functions. Each calls the library's function, so that the clock shows the same time. Until a
// test opens a field, they do nothing else.
//
// They are in C, because a Swift module can't define a function of another module that it also calls.

static _Atomic(nfc_clock_observer) current;

void nfc_observe_clocks(nfc_clock_observer observer) { atomic_store(&current, observer); }

static _Atomic(nfc_sleep) replaced_sleep;

void nfc_replace_sleep(nfc_sleep sleep) { atomic_store(&replaced_sleep, sleep); }

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
// The library may change the size of an instant, so the caller passes the address of its memory.
#define RESULT __attribute__((swift_indirect_result))

static void *library_function(_Atomic(void *) *found, const char *symbol) {
    void *function = atomic_load_explicit(found, memory_order_relaxed);
    if (function) return function;
    function = dlsym(RTLD_NEXT, symbol);
    if (!function) abort();
    atomic_store_explicit(found, function, memory_order_relaxed);
    return function;
}

#define CLOCK(CLOCK, TYPE, FUNCTION, SYMBOL, PARAMETERS, ARGUMENTS)                                                  \
    SWIFT TYPE FUNCTION PARAMETERS __asm__(SYMBOL);                                                                  \
    SWIFT TYPE FUNCTION PARAMETERS {                                                                                 \
        static _Atomic(void *) found;                                                                                \
        void *original = library_function(&found, SYMBOL);                                                           \
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

#define SLEEP "$s10Foundation6ThreadC5sleep15forTimeIntervalySd_tFZ"

SWIFT void thread_sleep(double seconds, SELF void *self) __asm__(SLEEP);
SWIFT void thread_sleep(double seconds, SELF void *self) {
    static _Atomic(void *) found;
    nfc_sleep sleep = atomic_load_explicit(&replaced_sleep, memory_order_acquire);
    if (sleep && sleep(seconds)) return;
    ((SWIFT void (*)(double, SELF void *))library_function(&found, SLEEP))(seconds, self);
}
