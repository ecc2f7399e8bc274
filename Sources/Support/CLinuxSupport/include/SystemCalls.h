// SPDX-License-Identifier: Apache-2.0
// Calls of Linux and glibc that the module Glibc leaves out, because they need _GNU_SOURCE.
#ifndef OPENCORENFC_SYSTEM_CALLS_H
#define OPENCORENFC_SYSTEM_CALLS_H

#include <spawn.h>
// For getxattr, which Swift's module of glibc does not have.
#include <sys/xattr.h>

// Accepts a waiting connection of a socket. The connection is closed in child programs, and does not block.
//
// Returns the connection, or -1 with errno set.
int ocn_accept(int listener);

// Creates a pipe, with the end to read from first. Both ends are closed in child programs. Returns 0, or -1 with errno set.
int ocn_pipe(int ends[2]);

// Has posix_spawn start a program in a folder. Returns 0 or an error number: ENOSYS before glibc 2.29, and the folder then
// stays the caller's.
int ocn_spawn_change_folder(posix_spawn_file_actions_t *actions, const char *folder);

// Has posix_spawn start a program without the descriptors from `first` on. Returns 0 or an error number: ENOSYS before glibc
// 2.34, and nothing is then closed.
int ocn_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// Returns the value of an environment variable; NULL when it is unset, and in a program that runs with other rights than its
// caller's (set-user-ID and similar).
const char *ocn_environment_value(const char *name);

// Overwrites memory with zeros, even if the compiler sees that it is not read again.
void ocn_wipe(void *memory, unsigned long size);

#endif
