// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import TagLink
import TestThreads
import Testing

@testable import PCSCDriver

/// Checks the driver while its process ends. libpcsclite then frees its memory and must not be called any more.
@Suite("The end of the process")
struct ProcessEndTests {
    private static let hasLibrary = unsafe dlopen("libpcsclite.so.1", RTLD_NOW) != nil

    @Test("lets no call to the library begin", .ownThreads, .enabled(if: hasLibrary, "libpcsclite is not installed."))
    func letsNoCallBegin() async {
        await #expect(processExitsWith: .exitCode(42)) {
            // Handlers run in the reverse order: this one after what the library's opening has registered.
            atexit {
                do throws(SmartCardError) {
                    _ = try PCSCLite.forCall("SCardListReaders")
                    _exit(1)
                } catch {
                    _exit(error.code == .cancelled ? 42 : 2)
                }
            }
            _ = try PCSCLite.forCall("SCardListReaders")
            exit(3)
        }
    }

    /// How far a call of the test below is that closes something.
    private enum Closing {
        case before, running, done
    }

    private static let closing = Locked(Closing.before)

    @Test(
        "waits for a call that closes something, and lets no other one begin",
        .ownThreads,
        .enabled(if: hasLibrary, "libpcsclite is not installed.")
    )
    func waitsForClosing() async {
        await #expect(processExitsWith: .exitCode(42)) {
            atexit {
                PCSCLite.close { _exit(1) }
                _exit(ProcessEndTests.closing.withLock { $0 == .done } ? 42 : 2)
            }
            _ = try PCSCLite.forCall("SCardReleaseContext")
            let thread = Thread {
                PCSCLite.close {
                    ProcessEndTests.closing.withLock { $0 = .running }
                    // Until the process ends, and then a moment.
                    while (try? PCSCLite.forCall("SCardReleaseContext")) != nil { usleep(100) }
                    usleep(5000)
                    ProcessEndTests.closing.withLock { $0 = .done }
                }
            }
            thread.start()
            while ProcessEndTests.closing.withLock({ $0 == .before }) { usleep(100) }
            exit(3)
        }
    }
}
