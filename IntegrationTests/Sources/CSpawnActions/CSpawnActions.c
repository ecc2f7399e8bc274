// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "include/CSpawnActions.h"

int spawnActionsCloseFrom(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int spawnActionsChangeFolder(posix_spawn_file_actions_t *actions, const char *folder) {
    return posix_spawn_file_actions_addchdir_np(actions, folder);
}
