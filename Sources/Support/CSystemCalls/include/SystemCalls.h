// SPDX-License-Identifier: Apache-2.0
// Calls of Linux and glibc that the module Glibc leaves out, because they need _GNU_SOURCE.
#ifndef OPENCORENFC_SYSTEM_CALLS_H
#define OPENCORENFC_SYSTEM_CALLS_H

// Takes a connection that waits at a socket; it is closed in programs that are started, and does not block.
//
// Returns the connection, or -1 with errno set.
int ocn_accept(int listener);

// Makes a pipe, its reading end first; both ends are closed in programs that are started.
//
// Returns 0, or -1 with errno set.
int ocn_pipe(int ends[2]);

// Opens a path without reading or writing what is there, and without following a symbolic link at its end.
//
// Returns a descriptor, or -1 with errno set.
int ocn_open_path(const char *path);

// Opens what a path leads to without reading or writing it. Symbolic links are followed.
//
// Returns a descriptor, or -1 with errno set.
int ocn_open_target(const char *path);

// Opens a folder without reading its names. A symbolic link at the end is followed where that is wanted.
//
// Returns a descriptor, or -1 with errno set.
int ocn_open_folder(const char *path, int follows_link);

// The names of a file's extended attributes, each with a zero byte behind it.
//
// Returns how many bytes they take, or -1 with errno set.
long ocn_attribute_names(const char *path, char *names, unsigned long size);

// A descriptor of a process: it stands for that process alone, also after the process's number is another's (pidfd_open(2)).
//
// Returns the descriptor, or -1 with errno set, to ENOSYS before Linux 5.3.
int ocn_process_descriptor(int process);

// Sends a signal to the process that a descriptor stands for (pidfd_send_signal(2)); 0 only asks whether it is there.
//
// Returns 0, or -1 with errno set.
int ocn_signal_process(int descriptor, int signal);

// The value of a variable of the environment; NULL when it is unset, and in a program that runs with rights of somebody else
// than who started it (set-user-ID and the like).
const char *ocn_environment_value(const char *name);

// Overwrites memory with zeros, also where the compiler sees that nobody reads it any more.
void ocn_wipe(void *memory, unsigned long size);

#endif
