// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import LinuxSupport
import UserBus

/// A bus for one test, in a folder of its own. Both end with this object.
package final class TestBus: Sendable {
    /// Whether there is the program for it.
    package static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")

    private let folder: PrivateFolder
    private let bus: PrivateBus

    package init() throws {
        folder = try PrivateFolder.random("nfc-tests")
        bus = try PrivateBus(in: folder, environment: ProcessInfo.processInfo.environment)
    }

    deinit {
        end()
        try? FileManager.default.removeItem(atPath: folder.path)
    }

    /// The address of the bus, in the format of `DBUS_SESSION_BUS_ADDRESS`.
    package var address: String { bus.address }
    /// The folder.
    package var path: String { folder.path }

    /// Stops the bus, so that it does not answer.
    package func stop() { kill(bus.process, SIGSTOP) }

    /// Continues the bus.
    package func goOn() { kill(bus.process, SIGCONT) }

    /// Ends the bus, and with it all connections. Further calls do nothing.
    package func end() {
        // Waiting fails once the process has been waited for, so that no other process with its number is killed.
        var information = unsafe siginfo_t()
        guard unsafe waitid(P_PID, id_t(bus.process), &information, WEXITED | WNOHANG | WNOWAIT) == 0 else { return }
        kill(bus.process, SIGKILL)
        waitpid(bus.process, nil, 0)
    }
}
