// SPDX-License-Identifier: Apache-2.0
#ifndef TEST_PARALLELISM_H
#define TEST_PARALLELISM_H

/// How many tests run beside each other where the environment does not say. It takes effect by being linked.
#define TEST_PARALLELISM "6"

#endif
