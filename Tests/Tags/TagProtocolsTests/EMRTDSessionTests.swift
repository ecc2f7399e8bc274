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

    // MARK: Signature

    private static func pem(_ certificate: [UInt8]) -> [UInt8] {
        let text = Data(certificate).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        return Array("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n".utf8)
    }

    @Test func `security object: unchanged groups, a signer of the given authority, and nothing else`() throws {
        let contents = try Self.contents()
        let file = try #require(contents.files[EMRTDContents.sodIdentifier])
        let issuers = Self.pem(EMRTDSigner.test.certificate)
        for issuers in [nil, issuers] {
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
