// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

@Suite struct `Typed records` {
    static let values: [any TypedRecord] = {
        let carrier = AlternativeCarrier(power: .activating, reference: [0x30], auxiliaryReferences: [[0x61], []])
        let uris = URIPrefix.all.map { URIRecord($0 + "example") }
        let texts = TextRecord.Encoding.allCases.map { TextRecord("Grüße 👋 é", language: "de", encoding: $0) }
        let poster = SmartPosterRecord(
            uri: URIRecord("https://e.com"),
            titles: [TextRecord("A", language: "en"), TextRecord("あ", language: "ja", encoding: .utf16)],
            action: .reserved(9),
            size: .max,
            type: "text/html",
            icons: [.init(type: "image/png", data: [1, 2, 3])]
        )
        let handovers: [HandoverRecord] = HandoverRecord.Role.allCases.map {
            HandoverRecord(
                $0,
                version: .init(1, 5),
                carriers: [carrier, carrier],
                collisionNumber: $0 == .request ? 0x1234 : nil,
                failure: $0 == .select ? .init(reason: 2, data: [0, 0, 1, 0]) : nil
            )
        }
        let structures = [AdvertisingData(type: 9, value: Array("Name".utf8)), AdvertisingData(type: 1, value: [6])]
        var others: [any TypedRecord] = [
            poster, SmartPosterRecord(uri: URIRecord("tel:1")),
            HandoverCarrierRecord(carrierTypeFormat: 2, carrierType: "a/b", data: [1]),
            BluetoothEasyPairingRecord(address: [1, 2, 3, 4, 5, 6], structures: structures),
            BluetoothLowEnergyRecord(structures: structures),
            SignatureRecord(signature: [1, 2], certificates: [[3], []], certificateURI: Array("http://c".utf8)),
            SignatureRecord(isSignatureURI: true, signatureType: 0, signature: Array("http://s".utf8)),
            DeviceInformationRecord(vendor: "Acme", model: "One"),
        ]
        if let wifi = try? WiFiRecord(WiFiCredential(ssid: "Net", key: "secret")) { others.append(wifi) }
        return uris + texts + handovers + others
    }()

    @Test func `Every value makes a record that gives the value again`() throws {
        for value in Self.values { try check(value) }
    }

    private func check<Value: TypedRecord>(_ value: Value) throws {
        let record = try value.makeRecord(identifier: [0x69])
        #expect(record.identifier == [0x69])
        #expect(try Value(record) == value)
        let bytes = try NDEFMessage([record]).encoded()
        let again = try #require(try NDEFMessage(decoding: bytes).records.first)
        #expect(again == record)
        #expect(try Value(again) == value)
        #expect(throws: RecordError(.wrongType)) { try Value(NDEFRecord(.unknown)) }
    }

    @Test func `Every payload that is cut short is refused or read, and never traps`() throws {
        for value in Self.values {
            let record = try value.makeRecord()
            for count in 0..<record.payloadCount {
                let cut = NDEFRecord(
                    record.typeNameFormat,
                    type: record.typeSlice,
                    payload: record.payloadSlice.prefix(count)
                )
                _ = try? cut.content()
            }
        }
    }

    @Test(arguments: [
        ("U", "", "empty-payload"), ("T", "", "empty-payload"), ("T", "85656e", "language-overrun"),
        ("T", "0265c378", "bad-encoding"), ("T", "82656ed83d0041", "bad-encoding"), ("Sp", "", "inner-empty-input"),
        ("Sp", "9101025504615101025504 61", "uri-count-2"), ("Sp", "d101015504ff", "inner-trailing-data"),
        ("Hs", "", "empty-payload"), ("Hs", "12d1030065 7272", "err-length"), ("Hc", "0205 61", "reference-overrun"),
        ("Sig", "200b02", "too-short"), ("Sig", "200b020004 61", "signature-overrun"),
        ("Sig", "200b0200016181 0002", "certificate-overrun"), ("Di", "0005 61", "tlv-overrun"),
        ("Di", "000161", "missing-element"), ("Hr", "12d10204616301013000", "cr-length"),
        ("Sig", "208b02000110 00", "control-character"), ("Sig", "200b02000081 0001ff", "certificate-overrun"),
        ("Sig", "200b02000080 0001ff", "bad-encoding"),
    ])
    func `Faults inside payloads have names`(type: String, payload: String, name: String) throws {
        let bytes = Hex.bytes(payload.filter { $0 != " " })
        let record = NDEFRecord(.wellKnown, type: Array(type.utf8), payload: bytes)
        let error = try #require(throws: RecordError.self) { try record.content() }
        #expect(error.code.description == name)
        #expect(!error.reason.isEmpty)
        // The message is still complete.
        #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()).records == [record])
    }

    @Test func `The longest prefix wins, and case counts`() {
        #expect(URIPrefix.longestCode(for: "urn:epc:id:1") == 0x1E)
        #expect(URIPrefix.longestCode(for: "urn:epc:x") == 0x22)
        #expect(URIPrefix.longestCode(for: "https://www.a") == 2)
        #expect(URIPrefix.longestCode(for: "HTTPS://www.a") == 0)
        #expect(URIPrefix.all.count == 36)
    }

    @Test func `A value that has no encoding is refused`() {
        #expect(throws: RecordError(.controlCharacter)) { try NDEFRecord.uri("http://a\n") }
        #expect(throws: RecordError(.badEncoding)) { try NDEFRecord.text("a", language: "") }
        #expect(throws: RecordError(.badEncoding)) { try NDEFRecord.text("a", language: "dé") }
        let long = String(repeating: "a", count: 64)
        #expect(throws: RecordError(.valueTooLong)) { try NDEFRecord.text("a", language: long) }
        #expect(throws: RecordError(.tooShort)) { try BluetoothEasyPairingRecord(address: [1]).makeRecord() }
    }

    @Test func `Media and external types are compared without case`() throws {
        let record = NDEFRecord.external(type: "Android.COM:pkg", payload: Array("com.example".utf8))
        #expect(try record.content() == .androidApplication(package: "com.example"))
        #expect(NDEFRecord.media(type: "Application/vnd.WFA.wsc", payload: []).kind == .wifi)
    }

    @Test(arguments: ["", "android.com:pk", "android.com:pkg2"])
    func `A type that is only a part of another name, or has more than it, is another type`(type: String) throws {
        let record = NDEFRecord.external(type: type, payload: Array("com.example".utf8))
        #expect(record.kind == .external)
        #expect(try record.content() == .external(type: type))
    }

    @Test(arguments: [
        ("0800060504030201", nil), ("080006050403020100", "oob-trailing"), ("0900060504030201", "oob-length-overrun"),
        ("0700060504030201", "too-short"), ("0a0006050403020105ff", "tlv-overrun"),
    ])
    func `The length of Bluetooth data must be that of the payload`(payload: String, name: String?) {
        let record = NDEFRecord.media(type: BluetoothEasyPairingRecord.mediaType, payload: Hex.bytes(payload))
        let error = Result { () throws(RecordError) in try record.content() }
        switch error {
        case .success: #expect(name == nil)
        case .failure(let error): #expect(error.code.description == name)
        }
    }

    @Test func `A Wi-Fi payload may begin with its length`() throws {
        let plain = try WiFiRecord(WiFiCredential(ssid: "Net", key: "secret")).makeRecord()
        let length = plain.payloadCount
        let payload = [UInt8(length >> 8), UInt8(length & 0xFF)] + plain.payload
        let record = NDEFRecord.media(type: WiFiRecord.mediaType, payload: payload)
        #expect(try WiFiRecord(record) == WiFiRecord(plain))
    }
}
