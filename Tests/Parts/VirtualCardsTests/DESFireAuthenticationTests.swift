// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagScripts
import Testing
import VirtualCards

@Suite struct `MIFARE DESFire with keys` {
    /// A way to authenticate, and a kind of key that it is for.
    struct Way: Sendable, CustomTestStringConvertible {
        var command: UInt8
        var kind: DESFireKey.Kind
        var generation = DESFireContents.Generation.ev1

        var testDescription: String { "\(String(command, radix: 16)) with \(kind) on \(generation)" }
        var isEV2: Bool { command == 0x71 }
    }

    static let ways = [
        Way(command: 0x0A, kind: .des), Way(command: 0x1A, kind: .des), Way(command: 0x1A, kind: .tripleDES),
        Way(command: 0xAA, kind: .aes), Way(command: 0xAA, kind: .aes, generation: .ev3),
        Way(command: 0x71, kind: .aes, generation: .ev2),
    ]

    private let select: [UInt8] = [0x33, 0x22, 0x11]

    /// The key that has a number in the application of ``reader(_:isWrapped:)``.
    private func key(_ number: UInt8, _ way: Way) throws -> DESFireKey {
        let bytes = (0..<UInt8(way.kind.length)).map { $0 &* 7 &+ number &* 16 }
        return try #require(DESFireKey(way.kind, bytes, version: number))
    }

    /// A reader with a card whose application has three keys, and a file in each mode: read by key 1, written by key 2,
    /// both by key 0.
    private func reader(_ way: Way, isWrapped: Bool = false) throws -> CardReader {
        var application = DESFireApplication(identifier: 0x112233, keySettings: 0x1B, keyCount: 3 | Self.code(way.kind))
        application.keys = try (0..<3).map { try key($0, way) }
        for (number, mode) in [(UInt8(1), UInt8(0)), (2, 1), (3, 3)] {
            application.files.append(
                DESFireFile(
                    number: number,
                    communication: CommunicationSettings(rawValue: mode),
                    accessRights: 0x1200,
                    kind: .standard(Array(repeating: 0, count: 200))
                )
            )
        }
        let contents = DESFireContents(generation: way.generation, applications: [application])
        return CardReader(card: DESFireCard(contents), isWrapped: isWrapped)
    }

    private static func code(_ kind: DESFireKey.Kind) -> UInt8 {
        switch kind {
        case .des: 0x00
        case .tripleDES: 0x40
        case .aes: 0x80
        }
    }

    private func mode(_ file: UInt8) -> CardReader.Mode {
        [1: .plain, 2: .maced, 3: .enciphered][file] ?? .plain
    }

    @Test(arguments: ways, [UInt8(1), 2, 3])
    func `What one key writes another reads, over several frames`(way: Way, file: UInt8) throws {
        var reader = try reader(way)
        #expect(reader.send(0x5A, select).status == 0)
        #expect(try reader.authenticate(way.command, 2, key(2, way)) == 0)
        let data = (0..<150).map { UInt8($0) }
        let header: [UInt8] = [file, 10, 0, 0, 150, 0, 0]
        let mode = mode(file)
        let written = try reader.command(0x3D, header, data, mode: mode)
        #expect(written == CardReader.Answer(status: 0))
        // Key 2 may write and not read.
        #expect(try reader.command(0xBD, [file, 10, 0, 0, 150, 0, 0], answers: .plain).status == 0xAE)

        reader.session = .none
        #expect(try reader.authenticate(way.command, 1, key(1, way)) == 0)
        for length in [UInt8(150), 16, 0] {
            let read = try reader.command(0xBD, [file, 10, 0, 0, length, 0, 0], answers: mode)
            let expected = length == 0 ? data + [UInt8](repeating: 0, count: 40) : Array(data.prefix(Int(length)))
            #expect(read == CardReader.Answer(status: 0, data: expected), "\(length)")
        }
    }

    @Test(arguments: ways)
    func `Codes go on over commands without secrets`(way: Way) throws {
        var reader = try reader(way, isWrapped: true)
        #expect(reader.send(0x5A, select).status == 0)
        #expect(try reader.authenticate(way.command, 0, key(0, way)) == 0)
        let mode: CardReader.Mode = way.isEV2 ? .maced : .plain
        let version = try reader.command(0x60, mode: .plain, answers: mode)
        #expect(version.data.count == 28)
        #expect(version.isProved)
        let files = try reader.command(0x6F, answers: mode)
        #expect(files == CardReader.Answer(status: 0, data: [1, 2, 3]))
        #expect(try reader.command(0x64, [2], answers: mode).data == [key(2, way).version])
        let uid = try reader.command(0x51, answers: .enciphered)
        #expect(uid == CardReader.Answer(status: 0, data: hex("04 11 22 33 44 55 66")))
        let settings = try reader.command(0xF5, [3], answers: mode)
        #expect(settings == CardReader.Answer(status: 0, data: hex("00 03 00 12 c8 00 00")))
    }

    @Test(arguments: ways)
    func `A wrong key, an error and a selection end an authentication`(way: Way) throws {
        var reader = try reader(way)
        #expect(reader.send(0x5A, select).status == 0)
        #expect(try reader.authenticate(way.command, 1, key(2, way)) == 0xAE)
        #expect(try reader.authenticate(way.command, 7, key(1, way)) == 0x40)
        #expect(reader.send(0xBD, [1, 0, 0, 0, 1, 0, 0]).status == 0xAE)

        #expect(try reader.authenticate(way.command, 1, key(1, way)) == 0)
        #expect(reader.send(0x99).status == (way.isEV2 ? 0x1E : 0x1C))
        #expect(reader.send(0xBD, [1, 0, 0, 0, 1, 0, 0]).status == 0xAE)

        #expect(try reader.authenticate(way.command, 1, key(1, way)) == 0)
        #expect(reader.send(0x5A, select).status == 0)
        #expect(reader.send(0xBD, [1, 0, 0, 0, 1, 0, 0]).status == 0xAE)
    }

    @Test(arguments: ways.filter { $0.command != 0x0A })
    func `Data with a wrong code or checksum are not written`(way: Way) throws {
        for (file, length) in [(UInt8(2), 8 + 8), (3, 32)] {
            var reader = try reader(way)
            #expect(reader.send(0x5A, select).status == 0)
            #expect(try reader.authenticate(way.command, 2, key(2, way)) == 0)
            let size = file == 2 ? length : way.isEV2 ? 24 : way.kind == .aes ? 16 : 16
            let answer = reader.send(0x3D, [file, 0, 0, 0, 8, 0, 0] + [UInt8](repeating: 0x5A, count: size))
            #expect(answer.status == 0x1E, "file \(file)")
            let card = try #require(reader.card as? DESFireCard)
            #expect(card.contents.applications[0].files.allSatisfy { $0.data?.allSatisfy { $0 == 0 } == true })
        }
    }

    @Test(arguments: ways)
    func `Keys are changed by the master key, and by themselves`(way: Way) throws {
        var reader = try reader(way)
        #expect(reader.send(0x5A, select).status == 0)
        // The settings name key 1 as the one that changes the others.
        #expect(try reader.authenticate(way.command, 1, key(1, way)) == 0)
        let new = try #require(DESFireKey(way.kind, (0..<UInt8(way.kind.length)).map { 0xF0 &- $0 }, version: 0x21))
        let changed = try reader.changeKey(2, from: key(2, way), to: new, isOwn: false)
        #expect(changed == CardReader.Answer(status: 0))
        // The session goes on.
        let version = try reader.command(0x64, [2], answers: way.isEV2 ? .maced : .plain)
        #expect(version == CardReader.Answer(status: 0, data: [new.version]))
        reader.session = .none
        #expect(try reader.authenticate(way.command, 2, key(2, way)) == 0xAE)
        #expect(try reader.authenticate(way.command, 2, new) == 0)
        // Key 2 may not change key 0.
        #expect(try reader.changeKey(0, from: key(0, way), to: new, isOwn: false).status == 0x9D)
        reader.session = .none
        #expect(try reader.authenticate(way.command, 0, key(0, way)) == 0)
        #expect(try reader.changeKey(0, from: key(0, way), to: new, isOwn: true).status == 0)
        // The session's key is another one now.
        #expect(reader.send(0x51).status == 0xAE)
        reader.session = .none
        #expect(try reader.authenticate(way.command, 0, new) == 0)
        let card = try #require(reader.card as? DESFireCard)
        #expect(card.contents.applications[0].keys.map(\.bytes) == [new.bytes, try key(1, way).bytes, new.bytes])
    }

    @Test func `A blank card gets an AES master key, an application and a file, and is formatted`() throws {
        var reader = CardReader(card: DESFireCard(DESFireContents()))
        let old = DESFireKey.zero(.des)
        #expect(try reader.authenticate(0x0A, 0, old) == 0)
        let master = try #require(DESFireKey(.aes, Array(1...16), version: 5))
        #expect(try reader.changeKey(0x80, from: old, to: master, isOwn: true).status == 0)
        reader.session = .none
        #expect(try reader.authenticate(0x1A, 0, old) == 0xAE)
        #expect(try reader.authenticate(0xAA, 0, master) == 0)
        #expect(try reader.command(0x54, [], [0x09], mode: .enciphered) == CardReader.Answer(status: 0))
        #expect(try reader.command(0xCA, [0x33, 0x22, 0x11, 0x0B, 0x82]) == CardReader.Answer(status: 0))
        #expect(try reader.command(0x45) == CardReader.Answer(status: 0, data: [0x09, 0x81]))
        #expect(reader.send(0x5A, select).status == 0)
        reader.session = .none
        // Without a key nothing can be created any more.
        #expect(reader.send(0xCD, [1, 3, 0x00, 0x10, 16, 0, 0]).status == 0xAE)
        #expect(try reader.authenticate(0xAA, 0, .zero(.aes)) == 0)
        #expect(try reader.command(0xCD, [1, 3, 0x00, 0x10, 16, 0, 0]) == CardReader.Answer(status: 0))
        let change = try reader.command(0x5F, [1], [0x01, 0x10, 0x01], mode: .enciphered)
        #expect(change == CardReader.Answer(status: 0))
        #expect(try reader.command(0xF5, [1]).data == hex("00 01 10 01 10 00 00"))

        #expect(reader.send(0x5A, [0, 0, 0]).status == 0)
        reader.session = .none
        #expect(reader.send(0xFC).status == 0xAE)
        #expect(try reader.authenticate(0xAA, 0, master) == 0)
        #expect(try reader.command(0xFC) == CardReader.Answer(status: 0))
        #expect(try reader.command(0x6A) == CardReader.Answer(status: 0))
    }

    @Test func `AUTHENTICATE EV2 NON FIRST goes on with the transaction`() throws {
        let way = Way(command: 0x71, kind: .aes, generation: .ev2)
        var reader = try reader(way)
        #expect(reader.send(0x5A, select).status == 0)
        #expect(try reader.authenticate(0x77, 0, key(0, way)) == 0x9D)
        #expect(try reader.authenticate(0x71, 2, key(2, way)) == 0)
        let data: [UInt8] = [1, 2, 3]
        #expect(try reader.command(0x8D, [3, 0, 0, 0, 3, 0, 0], data, mode: .enciphered).status == 0)
        #expect(try reader.authenticate(0x77, 1, key(1, way), challenge: Array(0x30..<0x40)) == 0)
        let read = try reader.command(0xAD, [3, 0, 0, 0, 3, 0, 0], mode: .maced, answers: .enciphered)
        #expect(read == CardReader.Answer(status: 0, data: data))
    }

    @Test func `Values are credited and debited within their limits, with the commit`() throws {
        let way = Way(command: 0xAA, kind: .aes)
        var reader = try reader(way)
        #expect(reader.send(0x5A, select).status == 0)
        #expect(try reader.authenticate(0xAA, 0, key(0, way)) == 0)
        let limits = hex("04 03 00 00 00 00 00 00 64 00 00 00 0a 00 00 00 00")
        #expect(try reader.command(0xCC, limits) == CardReader.Answer(status: 0))
        func change(_ code: UInt8, _ amount: UInt8) throws -> UInt8 {
            try reader.command(code, [4], [amount, 0, 0, 0], mode: .enciphered).status
        }
        #expect(try change(0x0C, 20) == 0)
        #expect(try change(0xDC, 5) == 0)
        #expect(try reader.command(0x6C, [4], answers: .enciphered).data == [10, 0, 0, 0])
        #expect(try reader.command(0xC7) == CardReader.Answer(status: 0))
        #expect(try reader.command(0x6C, [4], answers: .enciphered).data == [25, 0, 0, 0])
        #expect(try change(0xDC, 26) == 0xBE)
    }

    @Test func `A cyclic file keeps the newest records`() throws {
        let file = DESFireFile(
            number: 5,
            accessRights: 0xEEEE,
            kind: .cyclicRecords(size: 2, maximum: 3, records: [])
        )
        let contents = DESFireContents(applications: [DESFireApplication(identifier: 0x112233, files: [file])])
        var reader = CardReader(card: DESFireCard(contents))
        #expect(reader.send(0x5A, select).status == 0)
        for number in UInt8(1)...3 {
            #expect(reader.send(0x3B, [5, 0, 0, 0, 1, 0, 0, number]).status == 0)
            #expect(reader.send(0x3B, [5, 1, 0, 0, 1, 0, 0, number]).status == 0)
            #expect(reader.send(0xC7).status == 0)
        }
        #expect(reader.send(0xBB, [5, 0, 0, 0, 0, 0, 0]).data == [2, 2, 3, 3])
        #expect(reader.send(0xEB, [5]).status == 0)
        #expect(reader.send(0xC7).status == 0)
        #expect(reader.send(0xBB, [5, 0, 0, 0, 0, 0, 0]).status == 0xBE)
    }

    @Test func `Challenges differ from time to time, and are the same in every run`() throws {
        let way = Self.ways[3]
        func challenges() throws -> [[UInt8]] {
            var reader = try reader(way)
            _ = reader.send(0x5A, select)
            return (0..<3).map { _ in
                let challenge = reader.send(0xAA, [0]).data
                // A proof of a wrong length ends the authentication.
                #expect(reader.send(0xAF).status == 0x7E)
                return challenge
            }
        }
        let first = try challenges()
        #expect(Set(first).count == 3)
        #expect(try challenges() == first)
    }
}

extension CardReader {
    /// CHANGE KEY, with the checksums that each session wants.
    mutating func changeKey(
        _ number: UInt8,
        from old: DESFireKey,
        to new: DESFireKey,
        isOwn: Bool
    ) throws -> Answer {
        let version = new.kind == .aes ? [new.version] : []
        let key = isOwn ? new.bytes : zip(new.bytes, old.bytes).map { $0 ^ $1 }
        switch session {
        case .none: return transmit(0xC4, [number])
        case .legacy(let cipher):
            let sums = Self.crc16(key + version) + (isOwn ? [] : Self.crc16(new.bytes))
            return transmit(0xC4, [number] + (try Self.deciphered(key + version + sums, cipher)))
        case .chained(let cipher, var vector):
            let sums = crc32([0xC4, number] + key + version) + (isOwn ? [] : crc32(new.bytes))
            var answer = transmit(0xC4, [number] + (try Self.enciphered(key + version + sums, cipher, &vector)))
            if answer.status == 0, !answer.data.isEmpty {
                vector = try cipher.cmac([0], vector: vector)
                answer = Answer(status: 0, isProved: Array(vector.prefix(8)) == answer.data)
            }
            session = .chained(cipher, vector: vector)
            return answer
        case .ev2:
            let sum = isOwn ? [] : crc32(new.bytes)
            return try command(0xC4, [number], key + version + sum, mode: .enciphered)
        }
    }
}
