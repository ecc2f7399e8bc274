// SPDX-License-Identifier: Apache-2.0
import TagLink
import Testing
import VirtualCards
import VirtualTags

@Suite struct `What is shown of a tag's contents` {
    /// What a print, a debug print and a dump show, without anything but digits between numbers.
    private func shown(_ value: some Any) -> [String] {
        var text = ""
        dump(value, to: &text)
        let dumped = text.split(separator: "\n").map { $0.drop { !$0.isNumber } }.joined(separator: ", ")
        return ["\(value)", String(reflecting: value), dumped, text]
    }

    private func expectNothing(of value: some Any, _ secret: [UInt8]) {
        let number = secret.reduce(0) { $0 << 8 | UInt32($1) }
        for text in shown(value) {
            #expect(!text.contains(secret.map(String.init).joined(separator: ", ")), "\(text.prefix(2000))")
            #expect(!text.contains(String(number)) && !text.contains(secret.hexText()))
        }
    }

    private let secret: [UInt8] = [0xC3, 0xF7, 0xE9, 0x4D]

    @Test func `A password of a Type 2 tag, and a 3DES key, are not in it, and other pages are`() throws {
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory.replaceSubrange(4 * 43..<4 * 44, with: secret)
        contents.memory.replaceSubrange(4 * 44..<4 * 45, with: secret)
        expectNothing(of: contents, secret)
        expectNothing(of: TagContents.type2(contents), secret)
        contents.memory.replaceSubrange(4 * 5..<4 * 6, with: secret)
        #expect(shown(contents)[2].contains("195, 247, 233, 77"))
        var other = Type2Contents(blank: .ultralightC, uid: [4, 1, 2, 3, 4, 5, 6])
        for page in 44..<48 { other.memory.replaceSubrange(4 * page..<4 * page + 4, with: secret) }
        expectNothing(of: other, secret)
    }

    @Test func `Keys of MIFARE Classic are not in it`() {
        var memory = [UInt8](repeating: 0, count: 1024)
        for sector in 0..<16 {
            memory.replaceSubrange(64 * sector + 48..<64 * sector + 52, with: secret)
            memory.replaceSubrange(64 * sector + 58..<64 * sector + 62, with: secret)
        }
        let contents = ClassicContents(.classic1K, memory: memory, uid: [1, 2, 3, 4])
        expectNothing(of: contents, secret)
        expectNothing(of: TagContents.classic(contents), secret)
    }

    @Test func `Passwords of Type 5 tags are not in it`() {
        let number = secret.reduce(0) { $0 << 8 | UInt32($1) }
        var slix = Type5Contents(blank: .icodeSLIX)
        slix.passwords[0x10] = number
        expectNothing(of: slix, secret)
        var st = Type5Contents(blank: .st25tv02K)
        st.settings.passwords[0] = secret
        expectNothing(of: st, secret)
        expectNothing(of: TagContents.type5(st), secret)
    }
}
