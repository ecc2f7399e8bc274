// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

@Suite struct `Linkage` {
    @Test func `What lies below CoreNFC runs, and does without Foundation`() throws {
        #expect(try Command(name: "LinkageProbe").run().output == "16 octets, 0 tags, 60.0 seconds\n")

        let libraries = try Command(name: "ldd").run(Command(name: "LinkageProbe").path)
        #expect(libraries.status == 0)
        #expect(libraries.output.contains("libswiftCore"))
        #expect(!libraries.output.contains("Foundation"))
    }

    @Test func `The sample app needs Foundation, so the check above can tell`() throws {
        #expect(try Command(name: "ldd").run(Command(name: "TagReader").path).output.contains("Foundation"))
    }
}
