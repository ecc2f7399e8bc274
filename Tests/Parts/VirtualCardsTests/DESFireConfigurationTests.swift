// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagImages
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `SET CONFIGURATION of MIFARE DESFire` {
    /// Ways to prove the card's master key.
    enum Way: String, CaseIterable {
        case legacy, iso, tripleDES, aes, ev2

        var command: UInt8 {
            switch self {
            case .legacy: 0x0A
            case .iso, .tripleDES: 0x1A
            case .aes: 0xAA
            case .ev2: 0x71
            }
        }

        /// How the answers to commands without secrets are protected.
        var answers: CardReader.Mode { self == .ev2 ? .maced : .plain }

        var key: DESFireKey {
            switch self {
            case .legacy, .iso: .zero(.des)
            case .tripleDES: .zero(.tripleDES)
            case .aes, .ev2: .zero(.aes)
            }
        }
    }

    private func reader(_ way: Way) throws -> CardReader {
        var contents = DESFireContents(generation: way == .ev2 ? .ev2 : .ev1)
        contents.masterKey = way.key
        var reader = CardReader(card: DESFireCard(contents))
        #expect(try reader.authenticate(way.command, 0, way.key) == 0)
        return reader
    }

    private func configuration(_ reader: CardReader) throws -> DESFireConfiguration {
        try #require(reader.card as? DESFireCard).contents.configuration
    }

    @Test(arguments: Way.allCases)
    func `New applications get the default key, as many bytes of it as their kind takes`(_ way: Way) throws {
        var reader = try reader(way)
        let key = (0..<24).map { UInt8($0 * 11 + 1) }
        let set = try reader.command(0x5C, [0x01], key + [0x5A], mode: .enciphered, answers: way.answers)
        #expect(set == CardReader.Answer(status: 0))
        for (index, kind) in DESFireKey.Kind.allCases.enumerated() {
            let code: UInt8 = [DESFireKey.Kind.des: 0x00, .tripleDES: 0x40, .aes: 0x80][kind] ?? 0
            let number = UInt8(index + 1)
            let created = try reader.command(0xCA, [number, 0, 0, 0x0F, code | 2], answers: way.answers)
            #expect(created == CardReader.Answer(status: 0))
            let card = try #require(reader.card as? DESFireCard)
            let application = try #require(card.contents.applications.last)
            #expect(application.keys.count == 2)
            #expect(application.keys.allSatisfy { $0.version == 0x5A && $0.kind == kind })
            var other = CardReader(card: card)
            #expect(other.send(0x5A, [number, 0, 0]).status == 0)
            // The version of a DES key is in bits that the cipher leaves alone.
            let proved = try #require(DESFireKey(kind, Array(key.prefix(kind.length)), version: 0x5A))
            #expect(try other.authenticate(kind == .aes ? 0xAA : 0x1A, 1, proved) == 0)
        }
    }

    @Test(arguments: Way.allCases) func `FORMAT PICC is refused once it is switched off, for good`(_ way: Way) throws {
        var reader = try reader(way)
        #expect(try reader.command(0x5C, [0x00], [0x01], mode: .enciphered, answers: way.answers).status == 0)
        #expect(try reader.command(0x5C, [0x00], [0x00], mode: .enciphered, answers: way.answers).status == 0)
        #expect(try configuration(reader).isFormatDisabled)
        #expect(try !configuration(reader).usesRandomUID)
        #expect(try reader.command(0xFC, answers: way.answers).status == 0x9D)
    }

    @Test(arguments: Way.allCases)
    func `What is switched on for the whole card stays on, whatever is written afterwards`(_ way: Way) throws {
        for first in UInt8(0)...3 {
            for second in UInt8(0)...3 {
                var reader = try reader(way)
                for value in [first, second] {
                    let answer = try reader.command(0x5C, [0x00], [value], mode: .enciphered, answers: way.answers)
                    #expect(answer.status == 0)
                }
                #expect(try configuration(reader).isFormatDisabled == ((first | second) & 1 != 0))
                #expect(try configuration(reader).usesRandomUID == ((first | second) & 2 != 0))
            }
        }
    }

    @Test(arguments: Way.allCases) func `A default key of zeros has the version that it is given`(_ way: Way) throws {
        for version in [0x00, 0x5A] as [UInt8] {
            var reader = try reader(way)
            let value = [UInt8](repeating: 0, count: 24) + [version]
            let set = try reader.command(0x5C, [0x01], value, mode: .enciphered, answers: way.answers)
            #expect(set.status == 0)
            #expect(try reader.command(0xCA, [1, 0, 0, 0x0F, 0x82], answers: way.answers).status == 0)
            let card = try #require(reader.card as? DESFireCard)
            let keys = try #require(card.contents.applications.last).keys
            #expect(keys.count == 2 && keys.allSatisfy { $0.version == version })
        }
    }

    @Test(arguments: Way.allCases) func `An ATS is taken with its mark and its checksum`(_ way: Way) throws {
        var reader = try reader(way)
        let longest = [0x14] + [UInt8](repeating: 0x11, count: 19)
        for ats in [longest, hex("0a 78 77 81 02 80 11 22 33 44")] {
            #expect(try reader.markedCommand(0x5C, [0x02], ats) == CardReader.Answer(status: 0))
            #expect(try configuration(reader).answerToSelect == ats)
        }
        // The session continues.
        #expect(try reader.command(0x45, answers: way.answers).status == 0)
    }

    @Test(arguments: Way.allCases) func `An ATS of a wrong length, or with a wrong checksum, is refused`(_ way: Way)
        throws
    {
        for (ats, isDamaged, status) in [
            ("05 75 77 81 02 80", false, UInt8(0x9E)), ("15" + String(repeating: "00", count: 20), false, 0x9E),
            ("06 75 77 81 02 80", true, 0x1E), ("", false, 0x9E),
        ] {
            var reader = try reader(way)
            #expect(try reader.markedCommand(0x5C, [0x02], hex(ats), isDamaged: isDamaged).status == status)
            #expect(try configuration(reader).answerToSelect == nil)
        }
    }

    @Test func `Only who has proved the card's master key may configure it, and with what it knows`() throws {
        var reader = CardReader(card: DESFireCard(.ndef()))
        #expect(reader.send(0x5C, hex("00 02")).status == 0xAE)
        #expect(reader.send(0x5C).status == 0xAE)
        #expect(reader.send(0x5A, hex("01 00 00")).status == 0)
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        #expect(try reader.command(0x5C, [0x00], [0x02], mode: .enciphered).status == 0x9D)
        for (option, value) in [(UInt8(0x05), [UInt8(0x00)]), (0x00, [0x04])] {
            var reader = try self.reader(.aes)
            #expect(try reader.command(0x5C, [option], value, mode: .enciphered).status == 0x9E)
        }
        #expect(try configuration(reader) == DESFireConfiguration())
    }

    @Test func `The options of the card are one byte, also where more of them fit into its cryptogram`() throws {
        var reader = try reader(.ev2)
        #expect(try reader.command(0x5C, [0x00], [0x01, 0x00], mode: .enciphered, answers: .maced).status == 0x7E)
        #expect(try configuration(reader) == DESFireConfiguration())
    }

    @Test func `A power cut leaves the configuration as it was, or as it was to be`() throws {
        for (tear, expected) in [(TornWrite.old, false), (.new, true)] {
            var reader = try reader(.legacy)
            guard case .legacy(let cipher) = reader.session else { return }
            let sent = try CardReader.deciphered([0x02] + CardReader.crc16([0x02]), cipher)
            _ = reader.card.process([0x5C, 0x00] + sent, tear: tear)
            #expect(try configuration(reader).usesRandomUID == expected)
        }
    }

    // MARK: In the field

    /// The UID of a tag with one of 4 bytes, found by its anticollision.
    private func shortUID(_ script: Script) async -> [UInt8] {
        #expect(await script.sendShort(0x52) == "04 03")
        let answer = hex(await script.exchange(Frame([0x93, 0x20], checksum: .none)))
        #expect(answer.reduce(0, ^) == 0)
        return Array(answer.prefix(4))
    }

    /// Selects a tag with a UID of 4 bytes, and gives its ATS.
    private func answerToSelect(_ script: Script, _ uid: [UInt8]) async -> String {
        #expect(await script.exchange(Frame([0x93, 0x70] + uid + [uid.reduce(0, ^)])) == "20")
        return await script.send("e0 80")
    }

    @Test func `With a random UID the card has another one after each power-up, and reveals its own only with a key`()
        async throws
    {
        var contents = DESFireContents.ndef()
        contents.configuration.usesRandomUID = true
        contents.configuration.answerToSelect = hex("06 75 77 81 02 aa")
        let tag = VirtualType4Tag(contents)
        #expect(tag.identifier == contents.uid)
        let script = try Script(tag)
        var seen: Set<[UInt8]> = []
        for _ in 0..<3 {
            let uid = await shortUID(script)
            #expect(uid.first == 0x08)
            seen.insert(uid)
            #expect(await answerToSelect(script, uid) == "06 75 77 81 02 aa")
            script.field.switchCarrier(false)
            script.field.switchCarrier(true)
        }
        #expect(seen.count == 3)
        var reader = CardReader(card: tag.card)
        #expect(reader.send(0x60).status == 0xAF)
        #expect(reader.send(0xAF).status == 0xAF)
        #expect(reader.send(0xAF).data.prefix(7) == [0, 0, 0, 0, 0, 0, 0])
        #expect(try reader.authenticate(0xAA, 0, .zero(.aes)) == 0xAE)
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        let own = try reader.command(0x51, answers: .enciphered)
        #expect(own.data == contents.uid)
    }

    @Test func `What a reader configures takes effect when the power comes back, and is in the image`() async throws {
        let tag = VirtualType4Tag(DESFireContents.ndef())
        let script = try Script(tag)
        try await script.activate(tag.identifier, atqa: 0x0344, sak: 0x20)
        #expect(await script.send("e0 80") == "06 75 77 81 02 80")
        // AUTHENTICATE and SET CONFIGURATION over ISO-DEP, by a reader that has the tag's own card at hand.
        var reader = CardReader(card: tag.card)
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        #expect(try reader.command(0x5C, [0x00], [0x02], mode: .enciphered).status == 0)
        #expect(try reader.markedCommand(0x5C, [0x02], hex("06 75 77 81 02 bb")).status == 0)
        let configured = VirtualType4Tag(card: reader.card, frontEnd: tag.frontEnd)
        let held = try #require(TagContents(of: configured))
        let text = try TagImage(held).encoded()
        let again = try TagImage(parsing: text)
        #expect(again.contents == held)
        let fresh = try Script(again.makeTag())
        let uid = await shortUID(fresh)
        #expect(uid.first == 0x08)
        #expect(await answerToSelect(fresh, uid) == "06 75 77 81 02 bb")
    }

    @Test func `An image keeps the configuration, or says that its format can't`() throws {
        var contents = DESFireContents.ndef()
        contents.configuration.usesRandomUID = true
        contents.configuration.isFormatDisabled = true
        contents.configuration.defaultKey = Array(0..<24)
        contents.configuration.defaultKeyVersion = 7
        for applications in [contents.applications, []] {
            contents.applications = applications
            let held = try #require(TagContents(of: VirtualType4Tag(contents)))
            let text = try TagImage(held).encoded()
            #expect(try TagImage(parsing: text).contents == held)
            do {
                _ = try TagImage(held, format: .flipper).encoded()
                Issue.record("A Flipper file has no place for it.")
            } catch {
                #expect(error.code == .lossy)
                #expect(error.reason.contains("what SET CONFIGURATION has changed"))
            }
        }
    }
}

extension CardReader {
    /// Sends a command whose enciphered data have a mark after their checksum.
    fileprivate mutating func markedCommand(
        _ command: UInt8,
        _ header: [UInt8],
        _ data: [UInt8],
        isDamaged: Bool = false
    ) throws -> Answer {
        let damage: UInt8 = isDamaged ? 1 : 0
        switch session {
        case .none: return transmit(command, header + data)
        case .legacy(let cipher):
            let sum = Self.crc16(data)
            let sent = try Self.deciphered(data + [sum[0] ^ damage, sum[1], 0x80], cipher)
            return transmit(command, header + sent)
        case .chained(let cipher, var vector):
            let sum = crc32([command] + header + data)
            let sent = try Self.enciphered(data + [sum[0] ^ damage] + sum[1...] + [0x80], cipher, &vector)
            let answer = transmit(command, header + sent)
            guard answer.status == 0 else { return answer }
            vector = try cipher.cmac([0], vector: vector)
            session = .chained(cipher, vector: vector)
            return Answer(status: 0, isProved: Array(vector.prefix(8)) == answer.data)
        case .ev2:
            if isDamaged { return Answer(status: 0x1E) }
            return try self.command(command, header, data, mode: .enciphered, answers: .maced)
        }
    }
}
