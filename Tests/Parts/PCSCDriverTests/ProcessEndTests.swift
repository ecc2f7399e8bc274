// SPDX-License-Identifier: Apache-2.0
import Glibc
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
}
