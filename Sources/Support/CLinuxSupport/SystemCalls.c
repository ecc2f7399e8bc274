// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "SystemCalls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int ocn_accept(int listener) {
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

int ocn_pipe(int ends[2]) {
    return pipe2(ends, O_CLOEXEC);
}

// Weak, and declared here, because older C libraries and their headers lack these functions.
extern int posix_spawn_file_actions_addchdir_np(posix_spawn_file_actions_t *actions, const char *folder)
    __attribute__((weak));
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first) __attribute__((weak));

int ocn_spawn_change_folder(posix_spawn_file_actions_t *actions, const char *folder) {
    int (*change)(posix_spawn_file_actions_t *, const char *) = posix_spawn_file_actions_addchdir_np;
    return change != NULL ? change(actions, folder) : ENOSYS;
}

int ocn_spawn_close_from(posix_spawn_file_actions_t *actions, int first) {
    int (*close_from)(posix_spawn_file_actions_t *, int) = posix_spawn_file_actions_addclosefrom_np;
    return close_from != NULL ? close_from(actions, first) : ENOSYS;
}

const char *ocn_environment_value(const char *name) {
    return secure_getenv(name);
}

void ocn_wipe(void *memory, unsigned long size) {
    if (size > 0) explicit_bzero(memory, size);
}
