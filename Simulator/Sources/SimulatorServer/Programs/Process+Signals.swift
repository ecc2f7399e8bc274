// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Process {
    /// Starts the program with no signal blocked.
    ///
    /// It inherits the signals that the calling thread blocks. Threads of a pool block SIGTERM and SIGINT, and neither would
    /// ever end the program.
    package func runWithoutBlockedSignals() throws {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
