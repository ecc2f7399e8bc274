// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Process {
    /// The exit status of the program, or the number of the signal that ended it; nil while it runs.
    ///
    /// The system is asked. `Process` itself knows it when no process has a copy of its socket any more, and programs that
    /// were started at the same moment or by the program may have one for long.
    var end: Int32? {
        // First, because the number may be another program's once Process has ended this one for the system.
        guard isRunning else { return terminationStatus }
        var info = unsafe siginfo_t()
        guard unsafe waitid(P_PID, id_t(processIdentifier), &info, WEXITED | WNOHANG | WNOWAIT) == 0 else { return nil }
        // It stays there for Process.
        let child = unsafe info._sifields._sigchld
        return child.si_pid == 0 ? nil : child.si_status
    }
}
