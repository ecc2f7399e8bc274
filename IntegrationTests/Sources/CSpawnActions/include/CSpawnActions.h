// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that are seen with _GNU_SOURCE alone.
#ifndef OPENCORENFC_SPAWN_ACTIONS_H
#define OPENCORENFC_SPAWN_ACTIONS_H

#include <spawn.h>

// Closes all descriptors from `first` on in the program that is started.
int spawnActionsCloseFrom(posix_spawn_file_actions_t *actions, int first);

// Starts the program in a folder.
int spawnActionsChangeFolder(posix_spawn_file_actions_t *actions, const char *folder);

#endif
