// SPDX-License-Identifier: Apache-2.0
import TagImages
import TagScripts
import Testing
import VirtualCards
import VirtualTags

@Suite struct `JSON images of cards with keys` {
    private func image(_ text: String) throws -> TagImage {
        try TagImage(parsing: Array(text.utf8))
    }

    private func error(_ text: String) -> TagImageError? {
        do {
            _ = try image(text)
            return nil
        } catch {
            return error as? TagImageError
        }
    }

    private func text(_ image: TagImage) throws -> String {
        try #require(String(validating: image.encoded(), as: UTF8.self))
    }

    @Test func `An NTAG 424 DNA keeps keys, settings and its counter`() throws {
        var contents = NTAG424Contents()
        let isSet = contents.setLink("https://example.com/t?e={picc}&c={cmac}")
        #expect(isSet)
        contents.keys[1] = try #require(DESFireKey(.aes, Array(0..<16), version: 3))
        contents.readCounter = 41
        let tag = VirtualType4Tag(contents)
        let held = try #require(TagContents(of: tag))
        let text = try text(TagImage(held))
        #expect(text.contains(#""keys": {"1": "aes:000102030405060708090a0b0c0d0e0f:03"}"#))
        #expect(text.contains(#""file_settings": {"e104": "40e0eec1ff21"#))
        #expect(text.contains(#""read_counter": 41"#))
        #expect(try image(text).contents == held)

        var image = try image(text)
        let read = try #require(image.makeTag() as? VirtualType4Tag)
        var card = try #require(read.card as? NTAG424Card)
        for command in ["00 a4 04 00 07 d2 76 00 00 85 01 01 00", "00 b0 84 00 10"] {
            _ = card.process(hex(command), tear: nil)
        }
        image.update(from: VirtualType4Tag(card: card, frontEnd: read.frontEnd))
        #expect(try self.text(image).contains(#""read_counter": 42"#))
    }

    @Test func `A DESFire keeps keys and their settings`() throws {
        var contents = DESFireContents.ndef(generation: .ev2, size: .kilobytes2)
        contents.masterKey = .zero(.aes)
        contents.applications[0].keyCount = 0xA2
        contents.applications[0].keys = [.zero(.aes), try #require(DESFireKey(.aes, Array(1...16)))]
        let held = try #require(TagContents(of: VirtualType4Tag(contents)))
        let text = try text(TagImage(held))
        #expect(text.contains(#""product": "DESFire EV2""#))
        #expect(text.contains(#""key_settings": "0fa2""#))
        let keys =
            #""keys": {"master": "aes:00000000000000000000000000000000", "1": "aes:0102030405060708090a0b0c0d0e0f10"}"#
        #expect(text.contains(keys))
        let read = try image(text).contents
        #expect(read == held)
    }

    @Test(arguments: [("80", nil), ("81", 1), ("8e", 14), ("8f", nil), ("c1", nil)] as [(String, Int?)])
    func `The NDEF application of a DESFire has 1 to 14 keys of a kind`(settings: String, count: Int?) throws {
        var contents = DESFireContents.ndef(generation: .ev2, size: .kilobytes2)
        contents.applications[0].keyCount = 0xA2
        contents.applications[0].keys = [.zero(.aes), .zero(.aes)]
        let held = try #require(TagContents(of: VirtualType4Tag(contents)))
        let member = #""key_settings": "0fa2""#
        let text = try text(TagImage(held))
        #expect(text.contains(member))
        let changed = text.replacing(member, with: #""key_settings": "0f\#(settings)""#)
        guard let count else { return #expect(error(changed)?.code == .malformed) }
        guard case .type4(let read) = try image(changed).contents, case .desfire(let card) = read.kind else {
            Issue.record("no DESFire")
            return
        }
        #expect(card.applications[0].keys == Array(repeating: DESFireKey.zero(.aes), count: count))
    }

    @Test func `A new image of a DESFire has its members in the order in which people read them`() throws {
        let file = DESFireFile(number: 1, isoIdentifier: 0xE103, accessRights: 0xEEE0, kind: .standard([1, 2]))
        var application = DESFireApplication(identifier: 1)
        application.files = [file]
        let contents = DESFireContents(applications: [application])
        let front = Type4FrontEnd.nfcA(uid: contents.uid, ats: hex("06 75 77 81 02 80"))
        let text = try text(TagImage(.type4(Type4Contents(frontEnd: front, kind: .desfire(contents)))))
        let head = #"{"type": "T4T", "product": "DESFire EV1", "uid": "04112233445566", "ats": "067577810280", "#
        #expect(text.hasPrefix(head + #""sak": "20", "atqa": "0344", "get_version": ""#))
        let members = #""iso_id": "e103", "communication": "00", "access_rights": "eee0", "type": "standard", "#
        #expect(text.contains(#""files": {"01": {\#(members)"data": "0102"}}"#))
    }

    @Test(arguments: [
        (#""keys": {"0": "aes:00"}"#, TagImageError.Code.malformed),
        (#""keys": {"5": "aes:000102030405060708090a0b0c0d0e0f"}"#, .malformed),
        (#""keys": {"1": "des:000102030405060708090a0b0c0d0e0f"}"#, .malformed),
        (#""keys": {"1": "aes:000102030405060708090a0b0c0d0e0f:1"}"#, .malformed),
        (#""keys": {"1": 5}"#, .malformed), (#""file_settings": {"e104": "04"}"#, .malformed),
        (#""file_settings": {"e1": "00e0ee"}"#, .malformed),
        (#""file_settings": {"e103": "40e0eec1ff21"}"#, .malformed),
    ])
    func `Keys and settings that can't be are malformed`(member: String, code: TagImageError.Code) throws {
        let held = try #require(TagContents(of: VirtualType4Tag(NTAG424Contents())))
        let text = try text(TagImage(held))
        #expect(!text.contains("keys"))
        let changed = text.replacing("}}", with: "}, \(member)}")
        #expect(error(changed)?.code == code)
    }
}
