// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagTrace
import Testing

@Suite struct `Secrets that are sent in clear` {
    private static let a = Trace.Medium.frames(.nfcA)

    /// The bytes that are secret in the last of some requests, each with its answer.
    private func secrets(
        _ medium: Trace.Medium,
        _ exchanges: [(request: [UInt8], answer: [UInt8]?)]
    ) -> [UInt8] {
        var finder = SecretFinder()
        var secret: [UInt8] = []
        for (request, answer) in exchanges {
            secret = finder.secrets(in: request, over: medium).flatMap { request[$0] }
            if let answer { _ = finder.secrets(inAnswer: answer) }
        }
        return secret
    }

    private func version(_ type: UInt8, _ size: UInt8) -> (request: [UInt8], answer: [UInt8]?) {
        ([0x60], [0, 4, type, 2, 1, 0, size, 3])
    }

    @Test func `The password of a Type 2 tag, when it is presented and when it is written`() {
        #expect(secrets(Self.a, [([0x1B, 1, 2, 3, 4], nil)]) == [1, 2, 3, 4])
        for (type, size, page): (UInt8, UInt8, UInt8) in [
            (4, 0x0F, 0x2B), (4, 0x11, 0x85), (4, 0x13, 0xE5), (3, 0x0B, 0x12), (3, 0x0E, 0x27), (3, 0x0F, 0x30),
        ] {
            let before = version(type, size)
            for place in [page, page + 1] {
                #expect(secrets(Self.a, [before, ([0xA2, place, 1, 2, 3, 4], nil)]) == [1, 2, 3, 4])
                let data = [UInt8](1...16)
                #expect(secrets(Self.a, [before, ([0xA0, place], [0x0A]), (data, nil)]) == data)
            }
            #expect(secrets(Self.a, [before, ([0xA2, page - 1, 1, 2, 3, 4], nil)]) == [])
        }
        // The product is not known.
        #expect(secrets(Self.a, [([0xA2, 0x2B, 1, 2, 3, 4], nil)]) == [])
        // It is still the tag when it was woken again, but not in another field.
        #expect(secrets(Self.a, [version(4, 0x0F), ([0x52], nil), ([0xA2, 0x2B, 1, 2, 3, 4], nil)]) == [1, 2, 3, 4])
        var finder = SecretFinder()
        _ = finder.secrets(in: [0x60], over: Self.a)
        _ = finder.secrets(inAnswer: [0, 4, 4, 2, 1, 0, 0x0F, 3])
        finder.fieldChanged()
        #expect(finder.secrets(in: [0xA2, 0x2B, 1, 2, 3, 4], over: Self.a) == [])
        _ = finder.secrets(in: [0x1B, 1, 2, 3, 4], over: Self.a)
        #expect(finder.secrets(inAnswer: [0xAB, 0xCD]) == [0..<2])
    }

    @Test func `The keys of MIFARE Ultralight C, after its authentication`() {
        let authentication: ([UInt8], [UInt8]?) = ([0x1A, 0], [0xAF] + [UInt8](1...8))
        #expect(secrets(Self.a, [authentication, ([0xA2, 0x2C, 1, 2, 3, 4], nil)]) == [1, 2, 3, 4])
        #expect(secrets(Self.a, [authentication, ([0xA2, 0x2B, 1, 2, 3, 4], nil)]) == [])
    }

    @Test(arguments: [0x20, 0x24, 0x2C] as [UInt8]) func `PINs, with ISO-DEP around them or without`(ins: UInt8) {
        let pin: [UInt8] = [0x31, 0x32, 0x33, 0x34]
        let command: [UInt8] = [0x00, ins, 0x00, 0x81, 4] + pin
        #expect(secrets(.commands, [(command, nil)]) == pin)
        #expect(secrets(.commands, [([0x00, ins, 0, 0x81, 0, 0, 4] + pin, nil)]) == pin)
        // Secure messaging has its own protection, and DESFire other commands of this code.
        #expect(secrets(.commands, [([0x0C] + command.dropFirst(), nil)]) == [])
        #expect(secrets(.commands, [([0x90] + command.dropFirst(), nil)]) == [])
        let opened: ([UInt8], [UInt8]?) = ([0xE0, 0x80], [1])
        #expect(secrets(Self.a, [opened, ([0x02] + command, nil)]) == pin)
        #expect(secrets(Self.a, [opened, ([0x0B, 0x01] + command, nil)]) == pin)
        #expect(secrets(Self.a, [(Array([0x02] + command), nil)]) == [])
        let parts: [([UInt8], [UInt8]?)] = [(Array([0x12] + command.dropLast(2)), [0xA2]), ([0x03, 0x33, 0x34], nil)]
        #expect(secrets(Self.a, [opened] + parts) == [0x33, 0x34])
        #expect(secrets(Self.a, [opened] + parts + [([0x02, 0x00, 0xB0, 0, 0, 4, 1, 2], nil)]) == [])
    }

    @Test func `Keys and passwords that a reader is given`() {
        let key: [UInt8] = [1, 2, 3, 4, 5, 6]
        #expect(secrets(.commands, [([0xFF, 0x82, 0, 0, 6] + key, nil)]) == key)
        #expect(secrets(.commands, [([0xFF, 0xD6, 0, 7, 16] + key + [9, 9, 9, 9] + key, nil)]) == key + key)
        #expect(secrets(.commands, [([0xFF, 0xD6, 0, 6, 16] + [UInt8](1...16), nil)]) == [])
        #expect(secrets(.commands, [([0xFF, 0, 0, 0, 7, 0xD4, 0x42, 0x1B, 1, 2, 3, 4], nil)]) == [1, 2, 3, 4])
        let authentication = [0xD4, 0x40, 1, 0x60, 4] + key + [9, 9, 9, 9]
        #expect(secrets(.commands, [([0xFF, 0, 0, 0, 15] + authentication, nil)]) == key)
    }

    @Test func `The card key of FeliCa Lite-S alone of several blocks`() {
        let head: [UInt8] = [0, 0x08, 1, 2, 3, 4, 5, 6, 7, 8, 1, 0x09, 0x00, 2, 0x80, 0x05, 0x80, 0x87]
        let (data, key) = ([UInt8](repeating: 7, count: 16), [UInt8](1...16))
        #expect(secrets(.frames(.nfcF), [(head + data + key, nil)]) == key)
    }

    @Test(
        arguments: [
            (0x04, 0xB3, 1), (0x04, 0xB4, 1), (0x04, 0xB9, 0), (0x04, 0xBA, 0), (0x02, 0xB1, 1), (0x02, 0xB3, 1),
            (0x02, 0xA6, 1), (0x02, 0xBA, 1),
        ] as [(UInt8, UInt8, Int)]
    )
    func `Passwords of Type 5 tags, with an address and without`(maker: UInt8, code: UInt8, number: Int) {
        let uid = [UInt8](11...18)
        let parameters = [UInt8](repeating: 0x10, count: number) + [1, 2, 3, 4]
        #expect(secrets(.frames(.nfcV), [([0x02, code, maker] + parameters, nil)]) == [1, 2, 3, 4])
        #expect(secrets(.frames(.nfcV), [([0x22, code, maker] + uid + parameters, nil)]) == [1, 2, 3, 4])
        #expect(secrets(.frames(.nfcV), [([0x22, code, maker] + uid.dropLast(), nil)]) == [])
    }

    @Test func `Whatever comes is taken, and every place is within it`() {
        var generator = SystemRandomNumberGenerator()
        var finder = SecretFinder()
        let media: [Trace.Medium] = [.commands] + Technology.allCases.map { .frames($0) }
        let starts: [[UInt8]] = [
            [], [0x1B], [0xA2], [0xA0, 0x2B], [0xE0, 0x80], [0x02, 0, 0x20], [0xFF, 0x82], [0xFF, 0xD6, 0, 3, 16],
            [0xFF, 0, 0, 0, 9, 0xD4, 0x40], [0xFF, 0, 0, 0, 9, 0xD4, 0x42], [0, 0x08], [0x22, 0xB3, 0x04], [0x12],
        ]
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...24, using: &generator)
            let rest = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let request = (starts.randomElement() ?? []) + rest
            let places = finder.secrets(in: request, over: media.randomElement() ?? .commands)
            #expect(places.allSatisfy { $0.lowerBound >= 0 && $0.upperBound <= request.count })
            let places2 = finder.secrets(inAnswer: rest)
            #expect(places2.allSatisfy { $0.upperBound <= rest.count })
        }
    }
}
