// SPDX-License-Identifier: Apache-2.0

/// Helpers for starting programs.
enum ProgramStart {
    /// Describes a status from `waitpid`.
    static func text(_ status: Int32) -> String {
        status & 0x7F == 0 ? "with status \(status >> 8 & 0xFF)" : "by signal \(status & 0x7F)"
    }

    /// Removes the variables that the system sets for a service only.
    static func environment(_ variables: [String: String]) -> [String: String] {
        variables.filter { name, _ in !ofServices.contains(name) }
    }

    private static let ofServices: Set<String> = [
        "NOTIFY_SOCKET", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_PID", "WATCHDOG_USEC", "INVOCATION_ID",
        "JOURNAL_STREAM", "MANAGERPID", "SYSTEMD_EXEC_PID", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE",
        "DBUS_STARTER_ADDRESS", "DBUS_STARTER_BUS_TYPE",
    ]
}
