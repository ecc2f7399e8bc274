// SPDX-License-Identifier: Apache-2.0
import NFCRuntime
import NFCTestKit
import TagLink
import TagProtocols
import Testing
import VirtualTags

@testable import NFCReaders

@Suite struct `The demonstration tag` {
    @Test func `holds a link and a text`() async throws {
        let tag = DemonstrationTag.make()
        let link: [UInt8] = [0x91, 0x01, 0x14, 0x55, 0x04] + Array("example.com/welcome".utf8)
        let text: [UInt8] = [0x51, 0x01, 0x1A, 0x54, 0x02] + Array("enWelcome to the gallery.".utf8)
        let read = try await TagDesk.read(.type2(tag.contents))
        #expect(read.message == link + text && read.access == .readWrite && read.capacity == 492)
    }
}
