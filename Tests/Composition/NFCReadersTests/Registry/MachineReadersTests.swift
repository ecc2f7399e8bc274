// SPDX-License-Identifier: Apache-2.0
import Glibc
import NFCReaders
import NFCRuntime
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

    @Test func `Watching for readers can begin and end without a service`() async {
        let observations = MachineReaders.observe {}
        #expect(!observations.isEmpty)
    }
}
