// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

/// Data that look like a secret, and secrets in unusual forms.
@Suite struct `Secrets at the edges` {
    private static let a = Trace.Medium.frames(.nfcA)
    private static let pin: [UInt8] = [0x31, 0x32, 0x33, 0x34]
    private static let verify: [UInt8] = [0x00, 0x20, 0x00, 0x81, 4] + pin

    /// What is secret in each request of one trace. An answer follows its request.
    private func all(_ medium: Trace.Medium, _ exchanges: ([UInt8], [UInt8])...) -> [[UInt8]] {
        var finder = SecretFinder()
        return exchanges.map { request, answer in
            let secret = finder.secrets(in: request, over: medium).flatMap { request[$0] }
            _ = finder.secrets(inAnswer: answer)
            return secret
        }
    }

    private func version(maker: UInt8 = 4, _ type: UInt8, _ size: UInt8) -> ([UInt8], [UInt8]) {
        ([0x60], [0, maker, type, 2, 1, 0, size, 3])
    }

    @Test(
        arguments: [
            (4, 0x0B, 0x12..<0x14), (3, 0x0B, 0x12..<0x14), (3, 0x0E, 0x27..<0x29), (4, 0x0E, 0x27..<0x29),
            (3, 0x0F, 0x30..<0x38), (4, 0x0F, 0x2B..<0x2D), (4, 0x11, 0x85..<0x87), (4, 0x13, 0xE5..<0xE7),
            (4, 0x15, 0xE5..<0xE7), (3, 0x11, 0..<0), (3, 0x13, 0..<0), (4, 0x55, 0..<0),
        ] as [(UInt8, UInt8, Range<Int>)]
    )
    func `A Type 2 tag's secret pages are those of its product, and no other page`(
        _ type: UInt8,
        _ size: UInt8,
        _ pages: Range<Int>
    ) {
        for page: UInt8 in .min ... .max {
            let found = all(Self.a, version(type, size), ([0xA2, page, 1, 2, 3, 4], []))
            #expect(found[1] == (pages.contains(Int(page)) ? [1, 2, 3, 4] : []), "page \(page)")
        }
        #expect(all(Self.a, version(maker: 5, type, size), ([0xA2, UInt8(pages.lowerBound), 1, 2, 3, 4], []))[1] == [])
    }

    @Test func `The keys of MIFARE Ultralight C are four pages, and known only from a tag that has such keys`() {
        let begun: ([UInt8], [UInt8]) = ([0x1A, 0], [0xAF] + [UInt8](1...8))
        for page: UInt8 in 0x2A...0x31 {
            let found = all(Self.a, begun, ([0xA2, page, 1, 2, 3, 4], []))[1]
            #expect(found == ((0x2C...0x2F).contains(page) ? [1, 2, 3, 4] : []), "page \(page)")
        }
        #expect(all(Self.a, ([0x1A, 0], [0x00] + [UInt8](1...8)), ([0xA2, 0x2C, 1, 2, 3, 4], []))[1] == [])
        #expect(all(Self.a, ([0x1A, 0], [0xAF, 1]), ([0xA2, 0x2C, 1, 2, 3, 4], []))[1] == [])
        // A tag that said its version keeps the pages of that product.
        #expect(all(Self.a, version(3, 0x0F), begun, ([0xA2, 0x37, 1, 2, 3, 4], []))[2] == [1, 2, 3, 4])
    }

    @Test func `The second frame of a compatible write is secret by its page, and only the frame behind it`() {
        let data = [UInt8](1...16)
        let found = all(
            Self.a,
            version(4, 0x0F),
            ([0xA0, 0x2B], [0x0A]),
            (data, [0x0A]),
            (data, []),
            ([0xA0, 0x2A], [0x0A]),
            (data, [0x0A]),
            ([0xA0, 0x2B], [0x00]),
            ([0x30, 4], data),
            (data, [])
        )
        #expect(found == [[], [], data, [], [], [], [], [], []])
        // What looks like the version of a tag is data here.
        #expect(
            all(
                Self.a,
                ([0xA0, 0x2B], [0x0A]),
                ([0x60] + data.dropLast(), version(4, 0x0F).1),
                ([0xA2, 0x2B, 1, 2, 3, 4], [])
            )[2]
                == []
        )
    }

    @Test func `A password's acknowledgement is secret, and no other answer of two bytes`() {
        var finder = SecretFinder()
        _ = finder.secrets(in: [0x1B, 1, 2, 3, 4], over: Self.a)
        #expect(finder.secrets(inAnswer: [0]) == [])
        #expect(finder.secrets(inAnswer: [1, 2, 3]) == [])
        #expect(finder.secrets(inAnswer: [1, 2]) == [0..<2])
        _ = finder.secrets(in: [0x30, 1], over: Self.a)
        #expect(finder.secrets(inAnswer: [1, 2]) == [])
        #expect(finder.secrets(in: [0x1B, 1, 2, 3], over: Self.a) == [])
        #expect(finder.secrets(in: [0xA2, 0x2B, 1, 2, 3], over: Self.a) == [])
    }

    @Test func `A password's acknowledgement is the answer to the password alone, whatever comes next`() {
        let password: [UInt8] = [0x1B, 1, 2, 3, 4]
        let others: [(Trace.Medium, [UInt8])] = [
            (.commands, [0x00, 0xA4, 0x04, 0x00]), (.commands, [0xFF, 0xCA, 0, 0, 0]),
            (.commands, [0xFF, 0, 0, 0, 2, 0xD4, 0x02]), (.frames(.nfcF), [6, 0, 0x12, 0xFC, 0, 0]),
            (.frames(.nfcV), [0x02, 0x20, 1]), (.frames(.nfcB), [0x05, 0, 0]),
        ]
        for (medium, next) in others {
            var finder = SecretFinder()
            _ = finder.secrets(in: password, over: Self.a)
            _ = finder.secrets(in: next, over: medium)
            #expect(finder.secrets(inAnswer: [0x90, 0x00]) == [], "\(medium)")
        }
        // The same for what a host sends to the reader's chip: the second one reads registers.
        var finder = SecretFinder()
        _ = finder.secrets(inChipCommand: [0x40, 1] + password)
        #expect(finder.secrets(inAnswer: [1, 2]) == [0..<2])
        _ = finder.secrets(inChipCommand: [0x06, 0x63, 0x02, 0x63, 0x03])
        #expect(finder.secrets(inAnswer: [1, 2]) == [])
        // And a version is what the tag says to the question alone, so that no other answer moves its pages.
        _ = finder.secrets(inChipCommand: [0x42, 0x60])
        _ = finder.secrets(inAnswer: version(4, 0x0F).1)
        _ = finder.secrets(inChipCommand: [0x02])
        _ = finder.secrets(inAnswer: version(4, 0x11).1)
        #expect(finder.secrets(in: [0xA2, 0x2B, 1, 2, 3, 4], over: Self.a) == [2..<6])
    }

    @Test func `A block's CID and NAD are in front of the command, in NFC-A and in NFC-B`() {
        for (medium, open): (Trace.Medium, [UInt8]) in [(Self.a, [0xE0, 0x80]), (.frames(.nfcB), [0x1D, 1, 2, 3, 4])] {
            for head: [UInt8] in [[0x02], [0x03], [0x0A, 0x01], [0x06, 0x22], [0x0E, 0x01, 0x22]] {
                #expect(all(medium, (open, [0]), (head + Self.verify, []))[1] == Self.pin, "\(head)")
            }
            // A command for the reader or its chip is found there, too.
            let (key, uid) = ([UInt8](11...16), [UInt8](21...24))
            let head: [UInt8] = [0x0A, 0x01, 0xFF, 0, 0, 0, 15, 0xD4, 0x40, 1, 0x60, 4]
            #expect(all(medium, (open, [0]), (head + key + uid, []))[1] == key)
            #expect(all(medium, (open, [0]), ([0x0A, 0x01, 0xFF, 0x20, 0, 0, 4] + Self.pin, []))[1] == Self.pin)
            #expect(all(medium, (open, [0]), ([0xA2] + Self.verify, []))[1] == [])
            #expect(all(medium, (open, [0]), ([0xC2] + Self.verify, []))[1] == [])
            #expect(all(medium, ([0x02] + Self.verify, []))[0] == [])
        }
        #expect(all(.frames(.nfcV), ([0xE0, 0x80], []), ([0x02] + Self.verify, []))[1] == [])
    }

    @Test func `A card that is opened again in the middle of a chain is in none`() {
        for (medium, open): (Trace.Medium, [UInt8]) in [(Self.a, [0xE0, 0x80]), (.frames(.nfcB), [0x1D, 1, 2, 3, 4])] {
            let first: ([UInt8], [UInt8]) = ([0x12] + Self.verify, [])
            #expect(all(medium, (open, [1]), first, (open, [1]), ([0x02, 0, 0xA4, 4, 0, 1, 9], []))[3] == [])
            #expect(all(medium, (open, [1]), first, (open, [1]), ([0x02] + Self.verify, []))[3] == Self.pin)
        }
    }

    @Test func `A chain's later blocks are secret up to its last, whatever they look like`() {
        let open: ([UInt8], [UInt8]) = ([0xE0, 0x80], [0x01])
        let first: ([UInt8], [UInt8]) = ([0x12] + Self.verify, [0xA2])
        let found = all(
            Self.a,
            open,
            first,
            ([0x13, 1, 2], [0xA3]),
            ([0xA2], []),
            ([0x02, 3], []),
            ([0x03, 4, 5], [])
        )
        #expect(found == [[], Self.pin, [1, 2], [], [3], []])
        // The first block of a chain may end before the PIN.
        for count in [5, 6] {
            let (start, rest) = (Array(Self.verify.prefix(count)), Array(Self.verify.dropFirst(count)))
            #expect(all(Self.a, open, ([0x12] + start, [0xA2]), ([0x03] + rest, []))[2] == rest, "\(count)")
        }
        // A chain that begins with no secret has none.
        #expect(all(Self.a, open, ([0x12, 0, 0xD6, 0, 0, 1, 2], []), ([0x03] + Self.verify, []))[2] == Self.pin)
        // A tag that is woken or put to sleep is in no chain, and in no block.
        for end: [UInt8] in [[0x26], [0x52], [0x50, 0x00]] {
            #expect(all(Self.a, open, first, (end, []), ([0x03, 1, 2], []))[3] == [], "\(end)")
            #expect(all(Self.a, open, first, (end, []), open, ([0x03, 1, 2], []))[4] == [], "\(end)")
        }
    }

    @Test(arguments: [0x20, 0x21, 0x24, 0x25, 0x2C, 0x2D] as [UInt8])
    func `A PIN's command is one of plain classes`(_ instruction: UInt8) {
        func found(_ cla: UInt8, _ p1: UInt8 = 0) -> [UInt8] {
            all(.commands, ([cla, instruction, p1, 0x81, 4] + Self.pin, []))[0]
        }
        #expect(
            found(0x00) == Self.pin && found(0x80) == Self.pin && found(0x10) == Self.pin && found(0x03) == Self.pin
        )
        #expect(found(0x04) == [] && found(0x08) == [] && found(0x0C) == [] && found(0x84) == [] && found(0x90) == [])
        #expect(found(0x00, 0x01) == (instruction == 0x20 ? [] : Self.pin))
        #expect(all(.commands, ([0x00, instruction, 0, 0x81, 4], []))[0] == [])
        // The length may be wrong, so the bytes after the data are hidden too.
        #expect(all(.commands, ([0x00, instruction, 0, 0x81, 2] + Self.pin + [0], []))[0] == Self.pin + [0])
    }

    @Test func `Instructions next to a PIN's have no secret`() {
        for instruction: UInt8 in [0x1F, 0x22, 0x23, 0x26, 0x2A, 0x2B, 0x2E, 0xD6] {
            #expect(all(.commands, ([0x00, instruction, 0, 0x81, 4] + Self.pin, []))[0] == [])
        }
    }

    @Test func `A reader's commands have secrets by what they do`() {
        let key = [UInt8](1...6)
        #expect(all(.commands, ([0xFF, 0x82, 0x20, 0, 0, 0, 6] + key, []))[0] == key)
        #expect(all(.commands, ([0xFF, 0x20, 0, 0, 6] + key, []))[0] == key)
        #expect(all(.commands, ([0xFF, 0xCA, 0, 0, 6] + key, []))[0] == [])
        // The block of a sector's keys is the last of four.
        for block: UInt8 in 0...11 {
            let found = all(.commands, ([0xFF, 0xD6, 0, block, 16] + [UInt8](1...16), []))[0]
            #expect(found == (block % 4 == 3 ? [1, 2, 3, 4, 5, 6, 11, 12, 13, 14, 15, 16] : []), "block \(block)")
        }
        #expect(all(.commands, ([0xFF, 0xD6, 0, 3, 4, 1, 2, 3, 4], []))[0] == [])
    }

    @Test func `A command to the reader's chip has the secrets of the frame in it`() {
        func found(_ chip: [UInt8], after: [([UInt8], [UInt8])] = []) -> [UInt8] {
            var finder = SecretFinder()
            for (request, answer) in after {
                _ = finder.secrets(in: [0xFF, 0, 0, 0, UInt8(request.count)] + request, over: .commands)
                _ = finder.secrets(inAnswer: answer)
            }
            let command = [0xFF, 0, 0, 0, UInt8(chip.count)] + chip
            return finder.secrets(in: command, over: .commands).flatMap { command[$0] }
        }
        let (key, uid) = ([UInt8](11...16), [UInt8](21...24))
        #expect(found([0xD4, 0x40, 1, 0x60, 4] + key + uid) == key)
        #expect(found([0xD4, 0x40, 1, 0x61, 4] + key + uid) == key)
        #expect(found([0xD4, 0x40, 1, 0x62, 4] + key + uid) == [])
        #expect(found([0xD4, 0x42, 0x60, 4] + key + uid) == [])
        #expect(found([0xD4, 0x40, 1, 0x60, 4] + key + uid.dropLast()) == [])
        #expect(found([0xD5, 0x40, 1, 0x60, 4] + key + uid) == [])
        #expect(found([0xD4, 0x44, 1, 0x1B, 1, 2, 3, 4]) == [])
        #expect(found([0xD4, 0x40, 1, 0x1B, 1, 2, 3, 4]) == [1, 2, 3, 4])
        #expect(found([0xD4, 0x42, 0x1B, 1, 2, 3, 4]) == [1, 2, 3, 4])
        #expect(found([0xD4, 0x40, 1] + Self.verify) == Self.pin)
        #expect(found([0xD4, 0x42] + Self.verify) == Self.pin)
        #expect(found([0xD4, 0x40, 1]) == [] && found([0xD4, 0x42]) == [] && found([0xD4]) == [])
        let version: ([UInt8], [UInt8]) = ([0xD4, 0x42, 0x60], [0, 4, 4, 2, 1, 0, 0x0F, 3])
        #expect(found([0xD4, 0x42, 0xA2, 0x2B, 5, 6, 7, 8], after: [version]) == [5, 6, 7, 8])
        #expect(found([0xD4, 0x42, 0xA2, 0x2A, 5, 6, 7, 8], after: [version]) == [])
        var finder = SecretFinder()
        #expect(finder.secrets(inChipCommand: [0x42, 0x1B, 1, 2, 3, 4]) == [2..<6])
        #expect(finder.secrets(inChipCommand: []) == [])
    }

    @Test(arguments: [false, true])
    func `The answer of a reader's chip has the tag's answer in it, with its checksum or without`(hasChecksum: Bool) {
        var finder = SecretFinder()
        func ask(_ frame: [UInt8]) -> [UInt8] {
            let command = [0xFF, 0, 0, 0, UInt8(frame.count + 2), 0xD4, 0x42] + frame
            return finder.secrets(in: command, over: .commands).flatMap { command[$0] }
        }
        func answer(_ bytes: [UInt8], status: UInt8 = 0) -> [Range<Int>] {
            let checksum: [UInt8] = hasChecksum && !bytes.isEmpty ? [0x77, 0x77] : []
            return finder.secrets(inAnswer: [0xD5, 0x43, status] + bytes + checksum + [0x90, 0x00])
        }
        #expect(ask([0x1B, 1, 2, 3, 4]) == [1, 2, 3, 4])
        #expect(answer([0xAB, 0xCD]) == [3..<(hasChecksum ? 7 : 5)])
        #expect(ask([0x1B, 1, 2, 3, 4]) == [1, 2, 3, 4] && answer([], status: 0x01) == [])
        #expect(ask([0x60]) == [] && answer(version(4, 0x0F).1) == [])
        #expect(ask([0xA2, 0x2B, 5, 6, 7, 8]) == [5, 6, 7, 8] && answer([0x0A]) == [])
        #expect(ask([0xA2, 0x2A, 5, 6, 7, 8]) == [])
        // The same bytes are something else where a card gives them.
        #expect(finder.secrets(in: [0x00, 0xB0, 0, 0, 5], over: .commands) == [])
        #expect(answer([0xAB, 0xCD]) == [])
        // An authentication of MIFARE Ultralight C.
        finder.fieldChanged()
        #expect(ask([0x1A, 0]) == [] && answer([0xAF] + [UInt8](1...8)) == [])
        #expect(ask([0xA2, 0x2C, 5, 6, 7, 8]) == [5, 6, 7, 8])
    }

    @Test func `The card key of FeliCa Lite-S is found by its block's number in either form`() {
        func found(_ code: UInt8, services: [UInt8], blocks: [[UInt8]]) -> [UInt8] {
            let head = [0, code, 1, 2, 3, 4, 5, 6, 7, 8] + services + [UInt8(blocks.count)] + blocks.joined()
            let data = blocks.indices.flatMap { [UInt8](repeating: UInt8($0) + 1, count: 16) }
            return all(.frames(.nfcF), (head + data, []))[0]
        }
        let (one, two): ([UInt8], [UInt8]) = ([1, 9, 0], [2, 9, 0, 9, 0])
        func key(_ number: UInt8) -> [UInt8] { [UInt8](repeating: number, count: 16) }
        #expect(found(0x08, services: one, blocks: [[0x80, 0x87]]) == key(1))
        #expect(found(0x08, services: two, blocks: [[0x00, 0x87, 0x00], [0x80, 5]]) == key(1))
        #expect(
            found(0x08, services: one, blocks: [[0x80, 5], [0x80, 0x87], [0x00, 0x87, 0x00]]) == key(2) + key(3)
        )
        #expect(found(0x08, services: one, blocks: [[0x80, 0x86], [0x80, 0x88], [0x00, 0x87, 0x01]]) == [])
        #expect(found(0x06, services: one, blocks: [[0x80, 0x87]]) == [])
        let cut: [UInt8] = [0, 0x08, 1, 2, 3, 4, 5, 6, 7, 8, 1, 9, 0, 2, 0x80, 0x87]
        #expect(
            all(.frames(.nfcF), (cut, []), (Array(cut.dropLast(3)), []), (cut + [0x00, 0x87], [])) == [[], [], []]
        )
    }

    @Test func `A Type 5 tag's password is one of its maker's commands`() {
        let nfcV = Trace.Medium.frames(.nfcV)
        for (code, maker): (UInt8, UInt8) in [(0xB9, 0x02), (0xB1, 0x04), (0xB2, 0x04), (0xB3, 0x07), (0xA6, 0x04)] {
            #expect(all(nfcV, ([0x02, code, maker, 1, 2, 3, 4, 5], []))[0] == [], "\(code) of \(maker)")
        }
        // With the flag of inventory there is no address.
        #expect(all(nfcV, ([0x26, 0xB9, 0x04, 1, 2, 3, 4], []))[0] == [1, 2, 3, 4])
        #expect(all(nfcV, ([0x02, 0xB9, 0x04], []))[0] == [])
        #expect(all(nfcV, ([0x02, 0xB3, 0x04, 1], []))[0] == [])
    }
}
