// SPDX-License-Identifier: Apache-2.0
import Testing
import VirtualCards
import VirtualTags

@Suite struct `Keys of virtual cards` {
    private static let key: [UInt8] = Array(0xC0...0xCF)

    private func hides(_ value: some Any) -> Bool {
        var text = "\(value)" + String(reflecting: value)
        dump(value, to: &text)
        // An array is printed with commas, and dumped a line an element.
        let numbers = text.filter { $0.isNumber || $0 == "," }
        return !numbers.contains("193,194") && !numbers.contains("193194")
    }

    @Test func `They show in no print and no dump of a card's contents`() throws {
        let key = try #require(DESFireKey(.aes, Self.key))
        #expect(hides(key))
        var tag424 = NTAG424Contents(uid: [4, 1, 2, 3, 4, 5, 6])
        tag424.keys[0] = key
        #expect(hides(tag424) && tag424.keys[0].bytes == Self.key)
        var lite = FeliCaLiteSContents(idm: [1, 2, 3, 4, 5, 6, 7, 8])
        lite.cardKey = Self.key
        #expect(hides(lite))
        var configuration = DESFireConfiguration()
        configuration.defaultKey = Self.key
        #expect(hides(configuration))
        var system = FeliCaSystem(code: 0x88B4, files: [])
        system.key = Self.key
        system.nodeKeys[0] = Self.key
        #expect(hides(system))
        #expect(hides(EMRTDSigner(certificate: [], privateKey: Self.key)))
    }
}
