// SPDX-License-Identifier: Apache-2.0
// System calls that the Glibc module leaves out because they need _GNU_SOURCE.
#ifndef OPENCORENFC_SYSTEM_CALLS_H
#define OPENCORENFC_SYSTEM_CALLS_H

#include <spawn.h>
// For getxattr, which Swift's module of glibc does not have.
#include <sys/xattr.h>

// Accepts a waiting connection on a socket. The connection does not block, and is closed in child programs.
//
// Returns the connection, or -1 with errno set.
int ocn_accept(int listener);

// Creates a pipe; `ends[0]` is for reading. Both ends are closed in child programs. Returns 0, or -1 with errno set.
int ocn_pipe(int ends[2]);

// Makes posix_spawn start a program in a folder. Returns 0 or an error number: ENOSYS before glibc 2.29, where the
// program starts in the caller's folder.
int ocn_spawn_change_folder(posix_spawn_file_actions_t *actions, const char *folder);

// Makes posix_spawn start a program without the descriptors from `first` on. Returns 0 or an error number: ENOSYS
// before glibc 2.34, where the descriptors stay open.
int ocn_spawn_close_from(posix_spawn_file_actions_t *actions, int first);

// Returns the value of an environment variable; NULL if it is unset, or if the program runs with other rights than its
// caller's (set-user-ID and similar).
const char *ocn_environment_value(const char *name);

// Overwrites memory with zeros. The compiler can't optimize this away.
void ocn_wipe(void *memory, unsigned long size);

#endif
