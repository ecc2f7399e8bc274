// SPDX-License-Identifier: Apache-2.0
import Foundation

extension Process {
    /// Starts the program with all signals unblocked.
    ///
    /// A program inherits the blocked signals of the calling thread. Pool threads block SIGTERM and SIGINT, so these
    /// signals could never end the program.
    package func runWithoutBlockedSignals() throws {
        var none = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        try run()
    }
}
