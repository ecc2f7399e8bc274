// SPDX-License-Identifier: Apache-2.0
@unsafe @preconcurrency import CoreNFC
import Foundation
import NFCTestKit
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// What the object of a detected tag is and says.
@Suite(.timeLimit(.minutes(1))) struct DetectedTagTests {
    @Test func `Tag object: its type, its conversions and its description name the same kind of tag`() async throws {
        let rows: [(DiscoveredTag.Identity, __NFCTagType, Int, String)] = [
            (ScriptedTag.vicinity, .ISO15693, 0, "iso15693(<NFCISO15693Tag"),
            (ScriptedTag.feliCa, .feliCa, 1, "feliCa(<NFCFeliCaTag"),
            (ScriptedTag.iso7816, .iso7816Compatible, 2, "iso7816(<NFCISO7816Tag"),
            (ScriptedTag.ultralight, .miFare, 3, "miFare(<NFCMiFareTag"),
        ]
        for (identity, type, place, start) in rows {
            let found = try await ScriptedTag(identity).tag
            let tag: any __NFCTag = found.plain
            #expect(tag.type == type)
            let conversions: [(any __NFCTag)?] = [
                tag.asNFCISO15693Tag(), tag.asNFCFeliCaTag(), tag.asNFCISO7816Tag(), tag.asNFCMiFareTag(),
            ]
            for (index, other) in conversions.enumerated() {
                #expect(other === (index == place ? tag : nil), "\(type) \(index)")
            }
            // The name that a phone has for the kind, and the address.
            let address = String(UInt(bitPattern: ObjectIdentifier(tag)), radix: 16)
            #expect("\(found)" == "\(start): 0x\(address)>)")
        }
    }

    @Test func `MIFARE family: ultralight or desfire for UIDs of NXP, plus by its historical bytes, else unknown`()
        async throws
    {
        func card(_ uid: [UInt8], _ historicalBytes: [UInt8] = []) -> VirtualType4Tag {
            let ats = [UInt8(2 + historicalBytes.count), 0x08] + historicalBytes
            return VirtualType4Tag(card: TestTag.card(), frontEnd: .nfcA(uid: uid, atqa: 0x0044, ats: ats))
        }
        let nxp: [UInt8] = [0x04, 1, 2, 3, 4, 5, 6]
        let plus: [UInt8] = [0xC1, 0x05, 0x2F, 0x2F, 0x01, 0xBC, 0xD6]
        let rows: [(any VirtualTag, NFCMiFareFamily, [UInt8]?)] = [
            (VirtualType2Tag(.ntag213, uid: nxp), .ultralight, nil),
            (VirtualType2Tag(.ntag213, uid: [0x02, 1, 2, 3, 4, 5, 6]), .unknown, nil),
            (card([0x02, 1, 2, 3, 4, 5, 6]), .unknown, nil), (card(nxp), .desfire, nil),
            (card(nxp, plus), .plus, plus), (card([0x08, 1, 2, 3], plus), .plus, plus),
            (VirtualType4Tag(DESFireContents.ndef(size: .kilobytes4)), .desfire, [0x80]),
        ]
        for (index, (virtual, family, historicalBytes)) in rows.enumerated() {
            try await withTags(virtual, app: .app(applications: [AID.document])) { _, scene in
                let tag = try scene.miFare
                #expect(tag.mifareFamily == family, "\(index)")
                // An identifier that begins with 08 is a new one at each activation.
                if tag.identifier.first != 8 { #expect(tag.identifier == Data(virtual.identifier), "\(index)") }
                #expect(tag.historicalBytes.map { [UInt8]($0) } == historicalBytes, "\(index)")
            }
        }
    }

    @Test func `ISO 7816 Type A: historical bytes of the ATS, none without, and no application data`() async throws {
        let rows = [("0408cafe", "cafe"), ("01", nil), ("0208", nil), ("0578807002", nil)] as [(String, String?)]
        for (ats, historicalBytes) in rows {
            let front = Type4FrontEnd.nfcA(uid: [0x04, 1, 2, 3, 4, 5, 6], ats: bytes(ats))
            let card = VirtualType4Tag(card: TestTag.card([AID.document]), frontEnd: front)
            try await withTags(card, app: .app(applications: [AID.document])) { _, scene in
                let tag = try scene.iso7816
                #expect(tag.historicalBytes?.hexText() == historicalBytes, "\(ats)")
                #expect(tag.applicationData == nil && !tag.proprietaryApplicationDataCoding)
                // Its application is selected already.
                #expect(try await tag.send("0084000002") == "cafe9000")
            }
        }
    }

    @Test func `ISO 7816 Type B: applicationData and its coding are those of the ATQB`() async throws {
        // ADC is 0 for a proprietary coding (ISO/IEC 14443-3, 7.9.4.6).
        for (options, isProprietary) in [(UInt8(0x71), true), (0x75, false)] {
            let front = Type4FrontEnd.nfcB(
                pupi: [1, 2, 3, 4],
                applicationData: [0, 6, 7, 8],
                protocolInfo: [0x00, 0x81, options]
            )
            let card = VirtualType4Tag(card: TestTag.card([AID.document]), frontEnd: front)
            try await withTags(card, app: .app(applications: [AID.document])) { _, scene in
                let tag = try scene.iso7816
                #expect(tag.proprietaryApplicationDataCoding == isProprietary && tag.historicalBytes == nil)
                #expect(tag.applicationData == Data([0, 6, 7, 8]) && tag.identifier == Data([1, 2, 3, 4]))
                #expect(try await tag.send("0084000002") == "cafe9000")
            }
        }
    }

    @Test func `Type B card without ISO-DEP: an APDU is error 1, and nothing is sent`() async throws {
        let front = Type4FrontEnd.nfcB(pupi: [1, 2, 3, 4], protocolInfo: [0x00, 0x80, 0x71])
        try await withTags(VirtualType4Tag(card: TestTag.card(), frontEnd: front), connects: false) { field, scene in
            let before = field.tags.statistics.exchanges
            #expect(await code { try await scene.iso7816.send("0084000002") } == 1)
            #expect(field.tags.statistics.exchanges == before)
        }
    }

    @Test(arguments: ["MIFARE Classic 1K", "Topaz 512"])
    func `MIFARE Classic and Topaz: not found by a tag session; an NDEF session finds a tag of no technology`(
        product: String
    ) async throws {
        try await withField(.product(product)) { field in
            let delegate = TagSessionDelegate()
            let session = tagSession(delegate)
            session.begin()
            await field.settle()
            session.invalidate()
            #expect(await delegate.wholeLog() == ["active", "ended 200"])
            let scene = try await NDEFScene()
            #expect(scene.tags.count == 1 && !(scene.tag is any NFCMiFareTag))
            let (status, capacity) = try await scene.tag.queryNDEFStatus()
            #expect((status == .notSupported && capacity == 0) == (product != "Topaz 512"))
            scene.session.invalidate()
        }
    }
}
