// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualCards
import VirtualTags

/// Several NFC-A tags at once, of any UIDs.
struct CrowdedFieldTests {
    private static let many: [[UInt8]] = (0..<12).map { (index: Int) -> [UInt8] in
        let mixed = UInt8(index * 37 & 0xFF)
        return [0x04, mixed, UInt8(index), 1, 2, 3, UInt8(0xFF - index)]
    }

    private static let crowds: [[[UInt8]]] = [
        [bytes("04a1b2c3d4e580")], [bytes("04a1b2c3d4e580"), bytes("04a1b2c3d4e581")],
        [bytes("04a1b2c3d4e580"), bytes("04a1b3c3d4e580"), bytes("84a1b2c3d4e580")],
        [bytes("01020304"), bytes("01020305"), bytes("04a1b2c3d4e580")],
        [bytes("00000000"), bytes("80000000"), bytes("00000080"), bytes("00008000"), bytes("ffffffff")], many,
    ]

    private static func activation(_ uids: [[UInt8]]) throws -> NFCAActivation {
        let field = VirtualField()
        for uid in uids {
            let front = Type4FrontEnd.nfcA(uid: uid, ats: bytes("0578807002"))
            field.bring(VirtualType4Tag(card: ApplicationCard([NDEFApplication()]), frontEnd: front))
        }
        return NFCAActivation(link: try #require(field.link(for: .nfcA)))
    }

    @Test(arguments: crowds) func `NFC-A crowd: each tag is found once, and halted ones answer to WUPA alone`(
        uids: [[UInt8]]
    ) async throws {
        let activation = try Self.activation(uids)
        let found = try await activation.activateAll()
        #expect(Set(found.map(\.uid)) == Set(uids) && found.count == uids.count)
        for target in found {
            try await activation.halt()
            try await activation.reactivate(target)
        }
        try await activation.halt()
        #expect(try await activation.activateAll().isEmpty)
        #expect(try await !activation.activateAll(waking: true).isEmpty)
    }

    @Test(arguments: crowds) func `NFC-A crowd: any halted tag is found by its UID alone`(uids: [[UInt8]]) async throws
    {
        let activation = try Self.activation(uids)
        _ = try await activation.activateAll()
        for uid in uids {
            try await activation.halt()
            let target = try await activation.activate(uid: uid)
            #expect(target?.uid == uid && target?.sak == 0x20)
        }
        // One that is active is found too, and one that is missing is not.
        for _ in 0..<2 { #expect(try await activation.activate(uid: uids[0])?.uid == uids[0]) }
        #expect(try await activation.activate(uid: [9, 9, 9, 9]) == nil)
    }

    @Test func `NFC-A crowd: the search ends at its limit, with the last tag active`() async throws {
        let activation = try Self.activation(Self.many)
        let found = try await activation.activateAll(limit: 3)
        #expect(found.count == 3)
        // The last one answers as ISO-DEP.
        #expect(throws: Never.self) { try #require(found.last) }
        try await ISODEP(link: activation.link).activate()
    }
}
