// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import TagLink
import TagScripts
import Testing
import VirtualCards
import VirtualTags

/// Checks what the commands of a MIFARE DESFire leave in its memory when the power goes, and how long they take.
@Suite struct `A MIFARE DESFire that loses the power` {
    private func makeCard() -> DESFireCard {
        let kinds: [DESFireFile.Kind] = [.standard([0]), .backup([0])]
        let files = zip(UInt8(1)..., kinds).map { DESFireFile(number: $0, accessRights: 0xEEEE, kind: $1) }
        return DESFireCard(DESFireContents(applications: [DESFireApplication(identifier: 1, files: files)]))
    }

    /// Runs commands, the last of which is cut, and expects the state of before, or another one.
    private func cut(
        _ card: inout DESFireCard,
        _ command: [UInt8],
        _ milliseconds: Int64,
        isOld: Bool,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let before = card.contents
        let answer = card.process(command, tear: isOld ? .old : .new)
        #expect(answer.isWrite, sourceLocation: location)
        #expect(answer.workTime == .milliseconds(milliseconds), sourceLocation: location)
        #expect((card.contents == before) == isOld, sourceLocation: location)
    }

    @Test(
        arguments: [
            (["ca 02 00 00 0f 01"], 3),
            (["5a 01 00 00", "cd 05 00 ee ee 20 00 00"], 3), (["5a 01 00 00", "cd 05 00 ee ee 21 00 00"], 6),
            (["5a 01 00 00", "cc 05 00 ee ee 00 00 00 00 09 00 00 00 05 00 00 00 00"], 3),
            (["5a 01 00 00", "c1 05 00 ee ee 01 00 00 01 00 00"], 3), (["5a 01 00 00", "df 01"], 3),
            (["5a 01 00 00", "5f 01 03 ee ee"], 3), (["5a 01 00 00", "3d 01 00 00 00 01 00 00 aa"], 3),
            (["5a 01 00 00", "3d 02 00 00 00 01 00 00 aa", "c7"], 3),
        ] as [([String], Int64)]
    )
    func `A command without a key leaves the old state or the new one`(commands: [String], milliseconds: Int64) {
        for isOld in [true, false] {
            var card = makeCard()
            for command in commands.dropLast() { #expect(card.process(hex(command), tear: nil).bytes == [0x00]) }
            cut(&card, hex(commands[commands.count - 1]), milliseconds, isOld: isOld)
        }
    }

    @Test(arguments: ["60", "6a", "6d"]) func `A list or a version is no write, and takes no time`(command: String) {
        var card = DESFireCard(.ndef())
        let answer = card.process(hex(command), tear: nil)
        #expect(!answer.isWrite)
        #expect(answer.workTime == .zero)
    }

    @Test(arguments: [(1, 3), (31, 3), (32, 3), (33, 6), (52, 6)] as [(Int, Int64)])
    func `UPDATE BINARY takes its time for each unit of 32 bytes`(count: Int, milliseconds: Int64) {
        var card = DESFireCard(.ndef())
        #expect(card.process(hex("00 a4 04 00 07 d2 76 00 00 85 01 01"), tear: nil).bytes == [0x90, 0x00])
        let data = [UInt8](repeating: 0x55, count: count)
        let answer = card.process([0x00, 0xD6, 0x82, 0x00, UInt8(count)] + data, tear: nil)
        #expect(answer.bytes == [0x90, 0x00] && answer.isWrite && answer.workTime == .milliseconds(milliseconds))
    }

    /// A card whose master key is proved, and the cipher of the session.
    private func proved() throws -> (DESFireCard, BlockCipher) {
        var reader = CardReader(card: makeCard())
        #expect(try reader.authenticate(0x0A, 0, .zero(.des)) == 0)
        guard case .legacy(let cipher) = reader.session else { throw DESFireStatus.authenticationError }
        return (try #require(reader.card as? DESFireCard), cipher)
    }

    @Test(arguments: [[0xFC], [0xDA, 1, 0, 0]] as [[UInt8]], [true, false])
    func `FORMAT PICC and DELETE APPLICATION leave all applications or none`(command: [UInt8], isOld: Bool) throws {
        var (card, _) = try proved()
        cut(&card, command, 3, isOld: isOld)
        #expect(card.contents.applications.count == (isOld ? 1 : 0))
    }

    @Test(arguments: [true, false]) func `Settings of keys are the old ones or the new ones`(isOld: Bool) throws {
        var (card, cipher) = try proved()
        let sent = try CardReader.deciphered([0x0D] + CardReader.crc16([0x0D]), cipher)
        cut(&card, [0x54] + sent, 3, isOld: isOld)
        #expect(card.contents.keySettings == (isOld ? 0x0F : 0x0D))
    }

    @Test(arguments: [true, false]) func `A key is the old one or the new one`(isOld: Bool) throws {
        var (card, cipher) = try proved()
        let key = Array(UInt8(1)...16)
        let sent = try CardReader.deciphered(key + CardReader.crc16(key), cipher)
        cut(&card, [0xC4, 0x00] + sent, 3, isOld: isOld)
        #expect(card.contents.masterKey.bytes == (isOld ? [UInt8](repeating: 0, count: 16) : key))
    }
}
