// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import NFCReaders
import NFCRuntime
import PrivateStorage
import TestThreads
import Testing

@Suite struct MachineReadersTests {
    @Test func `Every reader that is listed has a name that a configuration takes`() async {
        for listed in await MachineReaders.list() {
            #expect(ReaderConfiguration(reader: listed.reader).backgroundProblem == nil)
            #expect(listed.reader.hasSuffix(listed.name))
        }
    }

    @Test(.ownThreads) func `Each kind that finds its readers by itself says why none is there, and no other`() async {
        await #expect(processExitsWith: .success) {
            _ = unsafe setenv("PCSCLITE_CSOCK_NAME", "/tmp/ocn-nowhere/pcscd.comm", 1)
            let reason = Machine.reason(NFCEnvironment(ReaderConfiguration(reader: "pcsc")))
            #expect(!reason.isEmpty && MachineReaders.absences() == [reason])
        }
    }

    @Test(.ownThreads) func `A service that does not answer is named, and no other reader is taken in its place`()
        async throws
    {
        let folder = try PrivateFolder.random("nfc-tests")
        defer { try? FileManager.default.removeItem(atPath: folder.path) }
        // Nobody accepts a connection.
        let listener = try PrivateSocket.listen("pcscd.comm", in: folder)
        defer { close(listener) }
        await #expect(processExitsWith: .success) { [path = folder.path as String] in
            _ = unsafe setenv("PCSCLITE_CSOCK_NAME", path + "/pcscd.comm", 1)
            let start = ContinuousClock.now
            let reasons = MachineReaders.absences(within: .milliseconds(100))
            #expect(reasons.count == 1 && reasons.first?.contains("systemctl restart pcscd") == true, "\(reasons)")
            for reader in [nil, "pcsc", "pcsc:ACS"] {
                var configuration = ReaderConfiguration(reader: reader)
                configuration.patience = .milliseconds(100)
                #expect(Machine.reason(NFCEnvironment(configuration)) == reasons.first)
            }
            // One look without a limit takes five seconds.
            #expect(ContinuousClock.now - start < .seconds(5))
        }
    }

    @Test func `Watching for readers can begin and end without a service`() async {
        let observations = MachineReaders.observe {}
        #expect(!observations.isEmpty)
    }
}
