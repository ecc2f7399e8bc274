// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import Testing

@Suite struct MachineReadersTests {
    @Test func `Every reader that is listed has a name that a configuration takes`() async {
        for listed in await MachineReaders.list() {
            #expect(ReaderConfiguration(reader: listed.reader).backgroundProblem == nil)
            #expect(listed.reader.hasSuffix(listed.name))
        }
    }

    @Test func `Watching for readers can begin and end without a service`() async {
        let observations = MachineReaders.observe {}
        #expect(!observations.isEmpty)
    }
}
