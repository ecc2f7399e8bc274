// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// Finding, waking and selecting NFC-A tags (ISO/IEC 14443-3, 6): exact exchanges, and crowds of virtual tags.
struct NFCAActivationTests {
    @Test(arguments: try Scenario.all(in: "nfc-a.txt"))
    func `NFC-A activation: each call makes exactly the exchanges of nfc-a.txt`(scenario: Scenario) async {
        for part in scenario.cases {
            let link = ScriptedLink()
            let selectsItself = part.options["selects-itself"] != nil
            let activation = NFCAActivation(link: selectsItself ? SelfSelectingLink(link) : link)
            await Script(part.text).run(on: link) { try await Self.call(activation, $0) }
        }
    }

    private static func call(_ activation: NFCAActivation, _ call: Script.Call) async throws -> String {
        func text(_ target: NFCATarget) -> String {
            guard let sak = target.sak else { return "type1" }
            return "\(hex(target.uid)):\(String(target.atqa, radix: 16)):\(hex([sak]))"
        }
        switch call.name {
        case "all", "wake-all":
            let limit = call.arguments.isEmpty ? 16 : call.number(0)
            let found = try await activation.activateAll(waking: call.name == "wake-all", limit: limit)
            return found.map(text).joined(separator: " ")
        case "find": return try await activation.activate(uid: call.bytes()).map(text) ?? "nil"
        case "again":
            let sak = call.arguments.count > 1 ? call.bytes(1)[0] : nil
            let atqa: UInt16 = sak == nil ? 0x0C00 : 0x0004
            try await activation.reactivate(NFCATarget(atqa: atqa, sak: sak, uid: call.bytes()))
            return "ok"
        default: return "no such call"
        }
    }

    @Test func `NFC-A activation of a tag with seven bytes: 4.42 ms`() async throws {
        let link = ScriptedLink(
            exchanges:
                "> 26/7 < 4400; > ~9320 < 8804a1b29f; > 9370 8804a1b29f < 04; > ~9520 < c3d4e58072; > 9570 c3d4e58072 < 00"
        )
        _ = try await NFCAActivation(link: link).activateAll()
        #expect(abs(link.statistics.airtime.microseconds - 4420) < 10)
    }

    @Test func `NFC-A collision at every bit of a UID: badAnswer after 33 rounds`() async {
        var steps = "> 26/7 < 0400\n"
        var known: [UInt8] = []
        for round in 0..<33 {
            let bits = round % 8
            let request = "93" + hex([UInt8(2 + round / 8) << 4 | UInt8(bits)] + known)
            steps += "> " + (bits == 0 ? "~\(request)" : "\(request)/\(bits)") + " < collision 0\n"
            if bits == 0 { known.append(0) }
            known[round / 8] |= 1 << bits
        }
        let link = ScriptedLink(exchanges: steps)
        #expect(await errorCode { _ = try await NFCAActivation(link: link).activateAll() } == .badAnswer)
        #expect(link.remaining == 0)
    }

    // MARK: Crowds

    private static let many: [[UInt8]] = (0..<12).map { (index: Int) -> [UInt8] in
        let mixed = UInt8(index * 37 & 0xFF)
        return [0x04, mixed, UInt8(index), 1, 2, 3, UInt8(0xFF - index)]
    }

    private static let crowds: [[[UInt8]]] = [
        [bytes("04a1b2c3d4e580")], [bytes("04a1b3c3d4e580"), bytes("84a1b2c3d4e580"), bytes("04a1b2c3d4e581")],
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

    @Test(arguments: crowds)
    func `NFC-A crowd: each tag is found once and by its UID, and halted tags answer only to WUPA`(uids: [[UInt8]])
        async throws
    {
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
        #expect(try await activation.activateAll(limit: 3).count == 3)
        // The last one answers as ISO-DEP.
        try await ISODEP(link: activation.link).activate()
    }
}
