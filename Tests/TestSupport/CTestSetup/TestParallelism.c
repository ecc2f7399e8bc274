// SPDX-License-Identifier: Apache-2.0
#include "TestParallelism.h"

#include <stdlib.h>

// Left to itself the testing library begins all tests at once, and one that waits for a program, or for real time, waits for
// a thousand others too.
__attribute__((constructor)) static void limitParallelism(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", TEST_PARALLELISM, 0);
}
