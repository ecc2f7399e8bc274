// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Values that have no place in a message, and payloads that end where a field should be.
@Suite("Values that are refused")
struct RefusedValueTests {
    private static let long = [UInt8](repeating: 0x61, count: 256)

    private func wellKnown(_ type: String, _ payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.wellKnown, type: Array(type.utf8), payload: payload)
    }

    // MARK: Messages

    @Test("What can't be written in one piece can't be written in chunks either")
    func chunks() {
        let payload: [UInt8] = [1, 2, 3]
        let cases: [(NDEFRecord, NDEFError.Code)] = [
            (NDEFRecord(.media, type: Self.long, payload: payload), .typeTooLong),
            (NDEFRecord(.media, type: [0x61], identifier: Self.long, payload: payload), .identifierTooLong),
            (NDEFRecord(.empty, payload: payload), .emptyRecordNotEmpty),
            (NDEFRecord(.unknown, type: [1], payload: payload), .typeNotAllowed),
            (NDEFRecord(.unchanged, payload: payload), .unexpectedUnchanged),
        ]
        for (record, code) in cases {
            let message = NDEFMessage([NDEFRecord(.empty), record])
            let error = #expect(throws: NDEFError.self) { try message.encoded(chunkSize: 2) }
            #expect(error?.code == code && error?.record == 1)
            #expect(throws: NDEFError(code)) { try message.encoded(chunkSizes: [0, 2]) }
        }
    }

    @Test("The reason names the field that is too long, and the record")
    func reasons() {
        #expect(NDEFError(.typeTooLong, record: 3).reason == "The type of record 3 is longer than 255 bytes.")
        #expect(
            NDEFError(.identifierTooLong, record: 4).reason == "The identifier of record 4 is longer than 255 bytes."
        )
    }

    @Test("A fault of a message in a payload is named when it is written, too")
    func innerMessages() {
        let poster = SmartPosterRecord(
            uri: URIRecord("https://e.com"),
            icons: [.init(type: "image/" + String(repeating: "x", count: 250), data: [1])]
        )
        #expect(throws: RecordError(.inner(.typeTooLong))) { try poster.makeRecord() }
    }

    @Test("A record has its identifier and its payload, whichever way it is made")
    func factories() throws {
        let identifier: [UInt8] = [0x69]
        let records: [NDEFRecord] = [
            try .uri("https://e.com", identifier: identifier),
            try .text("a", language: "en", identifier: identifier),
            .media(type: "a/b", payload: [1, 2], identifier: identifier),
            .external(type: "e.com:t", payload: [3], identifier: identifier),
            .androidApplication(package: "e", identifier: identifier),
            .absoluteURI("urn:x", payload: [4], identifier: identifier),
        ]
        #expect(records.allSatisfy { $0.identifier == identifier })
        let uri: [UInt8] = [4] + Array("e.com".utf8)
        let text: [UInt8] = [2] + Array("ena".utf8)
        #expect(records.map(\.payload) == [uri, text, [1, 2], [3], Array("e".utf8), [4]])
        #expect(NDEFRecord.absoluteURI("urn:x").payload.isEmpty)
    }

    // MARK: Networks

    @Test("A value of a network has two bytes of length")
    func networkLengths() throws {
        func record(_ count: Int) throws -> NDEFRecord {
            let attribute = WiFiRecord.Attribute(id: 0x104A, value: [UInt8](repeating: 7, count: count))
            return try WiFiRecord(attributes: [attribute]).makeRecord()
        }
        let longest = try record(0xFFFF)
        #expect(longest.payload.prefix(4) == [0x10, 0x4A, 0xFF, 0xFF])
        #expect(try WiFiRecord(longest).attributes.map(\.value.count) == [0xFFFF])
        #expect(throws: RecordError(.valueTooLong)) { try record(0x10000) }
        let credential = WiFiCredential(ssid: String(repeating: "a", count: 0x10000), key: "")
        #expect(throws: RecordError(.valueTooLong)) { try WiFiRecord(credential) }
    }

    @Test("A record of a network without attributes has nothing in it to read")
    func emptyNetwork() {
        let record = NDEFRecord.media(type: WiFiRecord.mediaType, payload: [])
        #expect(throws: RecordError(.emptyPayload)) { try WiFiRecord(record) }
        #expect(throws: RecordError(.emptyPayload)) { try record.content() }
    }

    @Test("A credential that is cut short is none, and makes the record unreadable")
    func damagedCredential() {
        for value: [UInt8] in [[0x10], [0x10, 0x45, 0, 2, 0x61]] {
            #expect(throws: RecordError(.attributeOverrun)) {
                try WiFiRecord(attributes: [.init(id: 0x100E, value: value)])
            }
            let payload = [0x10, 0x0E, 0, UInt8(value.count)] + value
            let record = NDEFRecord.media(type: WiFiRecord.mediaType, payload: payload)
            #expect(throws: RecordError(.attributeOverrun)) { try WiFiRecord(record) }
        }
    }

    @Test("Each network has its credential, and a new one is for WPA2 with AES and for any address")
    func credentials() throws {
        let first = try WiFiRecord(WiFiCredential(ssid: "a", key: "1"))
        let second = try WiFiRecord(WiFiCredential(ssid: "b", key: "2"))
        let both = try WiFiRecord(WiFiRecord(attributes: first.attributes + second.attributes).makeRecord())
        #expect(both.credentials.map(\.ssidText) == ["a", "b"] && both.credentials.map(\.keyText) == ["1", "2"])
        for credential in both.credentials {
            #expect(credential.authentication == 0x20 && credential.encryption == 8)
            #expect(credential.networkIndex == 1 && credential.macAddress == [UInt8](repeating: 0xFF, count: 6))
        }
    }

    // MARK: Handover

    @Test("An alternative carrier has the number of its auxiliary references, even where it is 0")
    func carriers() throws {
        func carriers(_ payload: [UInt8]) throws -> [AlternativeCarrier] {
            let inner = try NDEFMessage([wellKnown("ac", payload)]).encoded()
            return try HandoverRecord(wellKnown("Hs", [0x12] + inner)).carriers
        }
        #expect(try carriers([1, 1, 0x61, 0]) == [AlternativeCarrier(power: .active, reference: [0x61])])
        #expect(throws: RecordError(.referenceOverrun)) { try carriers([1, 1, 0x61]) }
        #expect(throws: RecordError(.referenceOverrun)) { try carriers([1]) }
    }

    @Test("The data of a refusal have the length that goes with its reason")
    func refusals() throws {
        for (reason, length): (UInt8, Int) in [(1, 1), (2, 4), (3, 1)] {
            for count in 0...5 {
                let data = [UInt8](repeating: 9, count: count)
                let failure = HandoverRecord.Failure(reason: reason, data: data)
                let select = HandoverRecord(.select, version: .init(1, 5), carriers: [], failure: failure)
                let inner = try NDEFMessage([wellKnown("err", [reason] + data)]).encoded()
                let record = wellKnown("Hs", [0x15] + inner)
                if count == length {
                    #expect(try select.makeRecord() == record && HandoverRecord(record).failure == failure)
                } else {
                    #expect(throws: RecordError(.errorLength)) { try select.makeRecord() }
                    #expect(throws: RecordError(.errorLength)) { try HandoverRecord(record) }
                }
            }
        }
    }

    @Test("Each number of a version has four bits")
    func versions() {
        #expect(HandoverRecord.Version(1, 5).byte == 0x15 && HandoverRecord.Version(0x21, 0x35).byte == 0x15)
        #expect(HandoverRecord.Version(15, 10).description == "15.10")
    }

    @Test("A payload that ends early says whether anything is there")
    func shortPayloads() {
        let cases: [(String, [UInt8], RecordError.Code)] = [
            ("Hc", [], .emptyPayload), ("Hc", [2], .tooShort), ("Hc", [2, 1], .referenceOverrun),
            ("Sig", [], .emptyPayload), ("Sig", [0x20], .tooShort), ("Sig", [0x20, 0x0B, 2, 0, 1, 0x61], .tooShort),
            ("Hr", [], .emptyPayload),
        ]
        for (type, payload, code) in cases {
            #expect(throws: RecordError(code), "\(type) \(payload)") { try wellKnown(type, payload).content() }
        }
    }

    @Test("An address has two digits for each byte")
    func addresses() {
        let record = BluetoothEasyPairingRecord(address: [0x00, 0x09, 0x0A, 0x0F, 0x10, 0xFF])
        #expect(record.addressText == "00:09:0a:0f:10:ff")
    }
}
