// SPDX-License-Identifier: Apache-2.0
import CardCryptography
import Foundation
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// The reader's side of travel documents against the card's side, which was tested with the examples of ICAO 9303-11.
struct EMRTDSessionTests {
    private static let zone = "P<UTOERIKSSON<<ANNA<MARIA<<<<<<<<<<<<<<<<<<<L898902C36UTO7408122F1204159ZE184226B<<<<<10"

    /// A document with a data group that is longer than an offset of READ BINARY.
    private static func contents() throws -> EMRTDContents {
        let group = [0x6D, 0x83, 0x00, 0xA0, 0x00] + (0..<0xA000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        return try EMRTDContents(MachineReadableZone(zone), otherGroups: [13: group], signer: .test)
    }

    private static func begin(_ tag: VirtualType4Tag, _ zone: String = zone) async throws -> EMRTDSession {
        let bench = try await ProductBench(tag)
        return try await EMRTDSession.begin(
            with: try #require(bench.reader as? Type4Tag).link,
            password: .accessInformation(try MachineReadableZone(zone).accessInformation)
        )
    }

    @Test(arguments: [false, true])
    func `document: each file is read as it is, also beyond 32 kilobytes, and a missing one is nil`(hasPACE: Bool)
        async throws
    {
        let contents = hasPACE ? try Self.paceContents() : try Self.contents()
        var session = try await Self.begin(VirtualType4Tag(contents))
        for (identifier, file) in contents.files.sorted(by: { $0.key < $1.key }) {
            #expect(try await session.read(identifier) == file, "\(identifier)")
        }
        #expect(try await session.read(0x0107) == nil)
        #expect(try await session.read(0x0101) == contents.files[0x0101])
    }

    @Test func `document with another number, birth or expiry: authenticationFailed`() async throws {
        let tag = VirtualType4Tag(try Self.contents())
        let reader = try #require(try await ProductBench(tag).reader as? Type4Tag)
        for (number, birth, expiry) in [
            ("L898902C4", "740812", "120415"), ("L898902C3", "740813", "120415"), ("L898902C3", "740812", "120416"),
        ] {
            let information = try #require(
                MachineReadableZone.accessInformation(number: number, birth: birth, expiry: expiry)
            )
            await #expect(throws: TagError(.authenticationFailed, "")) {
                _ = try await EMRTDSession.begin(with: reader.link, password: .accessInformation(information))
            }
        }
    }

    @Test func `printed number and dates: the same as the zone`() throws {
        let printed = MachineReadableZone.accessInformation(number: "L898902C3", birth: "740812", expiry: "120415")
        #expect(try printed == MachineReadableZone(Self.zone).accessInformation)
        #expect(MachineReadableZone.accessInformation(number: "L8 9", birth: "740812", expiry: "120415") == nil)
        #expect(MachineReadableZone.accessInformation(number: "L89", birth: "19740812", expiry: "120415") == nil)
    }

    // MARK: PACE

    private static func paceContents(_ cipher: UInt8 = 2, curve: UInt8 = 13) throws -> EMRTDContents {
        var contents = try contents()
        contents.accessNumber = "123456"
        contents.cardAccess = EMRTDContents.pace
        contents.cardAccess?[15] = cipher
        contents.cardAccess?[21] = curve
        return contents
    }

    private static func link(_ contents: EMRTDContents) async throws -> any APDULink {
        try #require(try await ProductBench(VirtualType4Tag(contents)).reader as? Type4Tag).link
    }

    @Test(
        arguments: [(1, 8), (1, 13), (2, 9), (2, 12), (3, 10), (3, 15), (4, 11), (4, 14), (4, 16), (4, 17), (4, 18)]
            as [(UInt8, UInt8)]
    ) func `document with PACE: zone and access number open it, with each cipher and curve`(
        cipher: UInt8,
        curve: UInt8
    ) async throws {
        let contents = try Self.paceContents(cipher, curve: curve)
        for password in [.accessInformation(contents.zone.accessInformation), .accessNumber(Array("123456".utf8))]
            as [EMRTDSession.Password]
        {
            var session = try await EMRTDSession.begin(with: try await Self.link(contents), password: password)
            for file in [0x011E, 0x0101, 0x0102] as [UInt16] {
                #expect(try await session.read(file) == contents.files[file])
            }
            #expect(try await session.read(0x0107) == nil)
        }
    }

    @Test func `document with PACE, wrong access number: authenticationFailed; without PACE: unsupported`() async throws
    {
        let password = EMRTDSession.Password.accessNumber(Array("123457".utf8))
        let link = try await Self.link(Self.paceContents())
        await #expect(throws: TagError(.authenticationFailed, "")) {
            _ = try await EMRTDSession.begin(with: link, password: password)
        }
        let old = try await Self.link(Self.contents())
        await #expect(throws: TagError(.unsupported, "")) {
            _ = try await EMRTDSession.begin(with: old, password: password)
        }
    }

    /// A card whose answers are changed on their way.
    private final class ChangedCard: APDULink {
        let card: any APDULink
        let change: @Sendable (Int, [UInt8]) -> [UInt8]
        private let count = Locked(0)
        let (maximumCommandLength, maximumResponseLength) = (65544, 65538)
        let statistics = LinkStatistics()

        init(_ card: any APDULink, _ change: @escaping @Sendable (Int, [UInt8]) -> [UInt8]) {
            (self.card, self.change) = (card, change)
        }

        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
            let index = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return change(index, try await card.transmit(apdu))
        }

        func isPresent() async -> Bool { true }
    }

    @Test func `document with PACE, an answer of any step changed or cut: an error`() async throws {
        let contents = try Self.paceContents()
        let password = EMRTDSession.Password.accessNumber(Array("123456".utf8))
        // The master file, EF.CardAccess, the choice, four steps, and the selection of the application.
        let lengths = Locked([Int](repeating: 0, count: 8))
        let whole = ChangedCard(try await Self.link(contents)) { index, answer in
            lengths.withLock { $0[index] = answer.count }
            return answer
        }
        _ = try await EMRTDSession.begin(with: whole, password: password)
        for (index, length) in lengths.withLock({ $0 }).enumerated() where index >= 3 {
            // The status after a protected answer is not protected.
            for byte in stride(from: 0, to: index == 7 ? length - 2 : length, by: 3) {
                for cuts in [true, false] {
                    let card = ChangedCard(try await Self.link(contents)) { place, answer in
                        guard place == index, answer.count > byte else { return answer }
                        var answer = answer
                        if cuts { answer.removeSubrange(byte...) } else { answer[byte] ^= 0x01 }
                        return answer
                    }
                    let code = await errorCode { _ = try await EMRTDSession.begin(with: card, password: password) }
                    #expect(code != nil, "answer \(index), byte \(byte)")
                }
            }
        }
    }

    @Test func `document with PACE, empty nonce: badAnswer, since any card could then prove itself`() async throws {
        let card = ChangedCard(try await Self.link(Self.paceContents())) { place, answer in
            place == 3 ? [0x7C, 0x02, 0x80, 0x00, 0x90, 0x00] : answer
        }
        await #expect(throws: TagError(.badAnswer, "")) {
            _ = try await EMRTDSession.begin(with: card, password: .accessNumber(Array("123456".utf8)))
        }
    }

    @Test func `document with many kinds of PACE, over 256 bytes, and several curves: the curve is named`() async throws
    {
        var contents = try Self.paceContents()
        let kinds = (UInt8(8)...18).flatMap { [0x30, 0x12] + EMRTDContents.pace[4..<21] + [$0] }
        contents.cardAccess = [0x31, 0x81, UInt8(kinds.count)] + kinds
        #expect(kinds.count > 200)
        contents.cardAccess = [0x31, 0x82, 0x01, 0xB8] + kinds + kinds
        var session = try await EMRTDSession.begin(
            with: try await Self.link(contents),
            password: .accessInformation(contents.zone.accessInformation)
        )
        #expect(try await session.read(0x0101) == contents.files[0x0101])
    }

    private final class StubbornCard: APDULink {
        let answers: [[UInt8]]
        private let count = Locked(0)
        let (maximumCommandLength, maximumResponseLength) = (65544, 65538)
        let statistics = LinkStatistics()

        init(_ answers: [[UInt8]]) { self.answers = answers }

        func transmit(_ apdu: [UInt8]) async throws(LinkError) -> [UInt8] {
            let index = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return index < answers.count ? answers[index] : answers[answers.count - 1]
        }

        func isPresent() async -> Bool { true }
    }

    @Test(
        arguments: [
            [[0x6A, 0x82]], [[0x90, 0]], [[0x90, 0], [UInt8](repeating: 1, count: 8) + [0x90, 0]],
            [[0x90, 0], [UInt8](repeating: 1, count: 8) + [0x90, 0], [UInt8](repeating: 2, count: 40) + [0x90, 0]],
            [[0x90, 0], [0x69, 0x82]], [[0x91, 0xAF]],
        ] as [[[UInt8]]]
    ) func `card that is no document, or does not prove itself: an error`(answers: [[UInt8]]) async throws {
        let information = try MachineReadableZone(Self.zone).accessInformation
        await #expect(throws: TagError.self) {
            _ = try await EMRTDSession.begin(
                with: StubbornCard([[0x90, 0x00], [0x6A, 0x82]] + answers),
                password: .accessInformation(information)
            )
        }
    }

    // MARK: The chip's proofs

    @Test(arguments: [1, 2, 3, 4] as [UInt8])
    func `chip with its key: proves both ways that it is no copy, and the session goes on`(cipher: UInt8) async throws {
        for hasPACE in [false, true] {
            let contents = try Self.chipContents(cipher, hasPACE)
            var session = try await Self.begin(VirtualType4Tag(contents))
            let (group, signing) = (try #require(contents.files[0x010E]), try #require(contents.files[0x010F]))
            #expect(try await session.authenticateActively(signing, information: group))
            #expect(try await session.authenticateChip(group))
            #expect(try await session.read(0x010F) == signing)
            #expect(try await session.authenticateChip(group))
            #expect(try await session.read(0x0101) == contents.files[0x0101])
        }
    }

    @Test(arguments: [1, 2] as [UInt8]) func `copy of a chip: fails both proofs`(cipher: UInt8) async throws {
        var copy = try Self.chipContents(cipher)
        copy.chipKey = Array(2...33)
        let (group, signing) = (try #require(copy.files[0x010E]), try #require(copy.files[0x010F]))
        var session = try await Self.begin(VirtualType4Tag(copy))
        await #expect(throws: TagError(.authenticationFailed, "")) {
            _ = try await session.authenticateActively(signing, information: group)
        }
        await #expect(throws: TagError(.authenticationFailed, "")) { _ = try await session.authenticateChip(group) }
    }

    @Test func `curve with its parameters written out, and a numbered key: both are used`() async throws {
        var contents = try Self.chipContents(2)
        let group = try #require(contents.files[0x010E])
        let curve = try #require(EllipticCurve(number: 13))
        let generator = try curve.publicKey(of: [1])
        let name = DataObject(0x06, curve.identifier).bytes
        let place = try #require(group.firstRange(of: name))
        let parameters = DataObject(
            0x30,
            [
                DataObject(0x02, [1]), DataObject(0x30, [UInt8]()), DataObject(0x30, [UInt8]()),
                DataObject(0x04, generator),
            ]
        )
        let point = try #require(group.firstRange(of: [0x03, 0x42, 0x00, 0x04]))
        let algorithm = group[(place.lowerBound - 9)..<place.lowerBound] + parameters.bytes
        let key = DataObject(0x30, Array(algorithm)).bytes + group[point.lowerBound..<(point.lowerBound + 68)]
        let identifier = DataObject(0x06, [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x01, 0x02]).bytes
        let fields = identifier + DataObject(0x30, key).bytes + [0x02, 0x01, 0x07]
        let protocolFields = DataObject(0x06, [0x04, 0x00, 0x7F, 0x00, 0x07, 0x02, 0x02, 0x03, 0x02, 0x02]).bytes
        let set = DataObject(
            0x31,
            [DataObject(0x30, fields), DataObject(0x30, protocolFields + [0x02, 0x01, 0x01, 0x02, 0x01, 0x07])]
        )
        contents.files[0x010E] = DataObject(0x6E, [set]).bytes
        var session = try await Self.begin(VirtualType4Tag(contents))
        #expect(try await session.authenticateChip(try #require(contents.files[0x010E])))
        #expect(try await session.read(0x0101) == contents.files[0x0101])
        #expect(try await session.authenticateChip([0x6E, 0x02, 0x31, 0x00]) == false)
    }

    @Test func `chip whose data group 14 is cut at its cipher: refuses, and does not crash`() async throws {
        let contents = try Self.chipContents(2)
        let group = try #require(contents.files[0x010E])
        // The cipher of the protocol is byte 19.
        for count in 16..<22 {
            var cut = contents
            cut.files[0x010E] = Array(group.prefix(count))
            var session = try await Self.begin(VirtualType4Tag(cut))
            let code = await errorCode { _ = try await session.authenticateChip(group) }
            #expect(code == (count < 20 ? .refused : nil), "\(count)")
        }
    }

    /// Signatures that OpenSSL made with keys of RSA, of random bytes and the challenge of ICAO 9303-11.
    @Test(
        arguments: [
            (
                "30819f300d06092a864886f70d010101050003818d0030818902818100ec4dc34b2962971fe7e5baf443e02bf03efa32fd84c74b7d3b"
                    + "cc26219d94835217343b7cd13f2a1c708a60614fae179bf3c4d123c4b1d4f34d13b93c7fef97520eec6cf9edf944169adaa973bc8e4e"
                    + "9136435bd8af673b5e472a08d35408dec679763e9d6e430a3c0b3b9edb5d6429229d9cd6adbba2fb3339c4f202521388fb0203010001",
                "b6ed06d20a0fb328d0a03bf25d635f993b6b886921a99c6f553cc5c084fd85333d631315a0bd318103b721"
                    + "366a5e72acb2145450b0a189906a6e542e1347faea98867d9980b231acd13c05905625122d8b92c49b2f04"
                    + "2f3c6757004eb78741bd5f91da5d07193c029d1601b8fb7e9c56c7624ce5f47443305a45f386fdc6e38d"
            ),
            (
                "30819f300d06092a864886f70d010101050003818d0030818902818100ae55fcbcc49f867b0fb5578041845233f4735b9ca63e459903"
                    + "2427ed7a7e13a84e5a0cd407397665f75047c1288e0723d9d5dc22f4b9f1158306e79ae280938d4c1ace2c6642dc121a79483530e90f"
                    + "403cc1e851483edd44a96e615042d1844b4f70b2ff34a188118b8957ec49ee553fc4ff0bfe0b3f269228d11a750d1d9c650203010001",
                "2150466dc63b0b1426408532838b62669856376f5531acf2508951cfee2ff941e866368111a91e8730f8d4"
                    + "47cbc8e141309d15d565145bc940bb507d62c37a2b84e229bc9525f2931a123b76872096d87c08cd027096"
                    + "f1ba43d3bde17a34f45948e5f1652cb266896e35b1b1dea8da291855a78b35f86a327eec216e682ca782"
            ),
        ]
    ) func `active authentication with RSA: a signature of this challenge alone is a proof`(
        key: String,
        signature: String
    )
        throws
    {
        let challenge: [UInt8] = [0xF1, 0x73, 0x58, 0x99, 0x74, 0xBF, 0x40, 0xC6]
        let encoded = try #require([UInt8](hexadecimal: key.utf8))
        let bytes = try #require([UInt8](hexadecimal: signature.utf8))
        let active = try #require(ActiveKey([0x6F, 0x81, UInt8(encoded.count)] + encoded, information: nil))
        #expect(try active.verifies(bytes, of: challenge))
        #expect(try !active.verifies(bytes, of: challenge.reversed()))
        #expect(try !active.verifies(bytes.dropLast() + [bytes[127] ^ 1], of: challenge))
        #expect(try !active.verifies([], of: challenge))
    }

    private static func chipContents(_ cipher: UInt8, _ hasPACE: Bool = false) throws -> EMRTDContents {
        let key = EMRTDContents.testChipKey
        var contents = try EMRTDContents(
            MachineReadableZone(zone),
            otherGroups: EMRTDContents.chipGroups(key, cipher: cipher),
            chipKey: key,
            signer: .test
        )
        if hasPACE { contents.cardAccess = EMRTDContents.pace }
        return contents
    }

    // MARK: Signature

    private static func pem(_ certificate: [UInt8]) -> [UInt8] {
        let text = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n".utf8)
    }

    @Test func `security object: unchanged groups, a signer of the given authority, and nothing else`() throws {
        let contents = try Self.contents()
        let file = try #require(contents.files[EMRTDContents.sodIdentifier])
        let issuers = Self.pem(EMRTDSigner.test.certificate)
        for issuers in [nil, issuers, Self.pem(Array(EMRTDSigner.test.certificate.prefix(300))) + issuers] {
            let signed = try EMRTDSecurityObject(checking: file, issuers: issuers)
            for number in [1, 2, 13] {
                let group = try #require(contents.files[0x0100 | UInt16(number)])
                #expect(signed.isUnchanged(number, group) == true)
                #expect(signed.isUnchanged(number, group.dropLast() + [0xAA]) == false)
            }
            #expect(signed.isUnchanged(3, [0x63, 0]) == nil)
        }
        #expect(throws: TagError(.authenticationFailed, "")) {
            _ = try EMRTDSecurityObject(checking: file, issuers: Array("no certificate".utf8))
        }
        #expect(throws: TagError(.badAnswer, "")) { _ = try EMRTDSecurityObject(checking: []) }
    }

    @Test func `changed security object: each changed byte is found, or changes no hash`() throws {
        let contents = try Self.contents()
        let file = try #require(contents.files[EMRTDContents.sodIdentifier])
        let group = try #require(contents.files[0x0101])
        var found = 0
        for index in stride(from: 0, to: file.count, by: 7) {
            var changed = file
            changed[index] ^= 0x01
            do throws(TagError) {
                let signed = try EMRTDSecurityObject(checking: changed, issuers: Self.pem(EMRTDSigner.test.certificate))
                #expect(signed.isUnchanged(1, group) == true, "\(index)")
            } catch {
                found += 1
            }
        }
        #expect(found > file.count / 7 * 9 / 10)
    }
}
