// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Typed records: smart posters, handover, Bluetooth, Wi-Fi, signatures and device information.
struct RecordTests {
    private static let values: [any TypedRecord] = {
        let carriers = [
            AlternativeCarrier(power: .active, reference: [0x61], auxiliaryReferences: [[0x31], [0x32], [0x33]]),
            AlternativeCarrier(power: .inactive, reference: [0x62]),
            AlternativeCarrier(power: .activating, reference: [0x63], auxiliaryReferences: [[], [0x34]]),
            AlternativeCarrier(power: .unknown, reference: [0x64]),
        ]
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
                carriers: carriers,
                collisionNumber: $0 == .request ? 0x1234 : nil,
                failure: $0 == .select ? .init(reason: 2, data: [0, 0, 1, 0]) : nil
            )
        }
        let structures = [AdvertisingData(type: 9, value: Array("Name".utf8)), AdvertisingData(type: 1, value: [6])]
        let others: [any TypedRecord] = [
            poster, SmartPosterRecord(uri: URIRecord("tel:1"), action: .perform),
            HandoverRecord(.select, version: .init(1, 2), carriers: []),
            HandoverRecord(.select, version: .init(1, 5), carriers: [], failure: .init(reason: 0xFF, data: [1, 2])),
            HandoverCarrierRecord(carrierTypeFormat: 2, carrierType: "a/b", data: [1]),
            BluetoothEasyPairingRecord(address: [0, 9, 10, 15, 16, 255], structures: structures),
            BluetoothLowEnergyRecord(structures: structures),
            SignatureRecord(signature: [1, 2], certificates: [[3], []], certificateURI: Array("http://c ~".utf8)),
            SignatureRecord(isSignatureURI: true, signatureType: 0, signature: Array("http://s".utf8)),
            SignatureRecord(signature: Array("a\n".utf8)), DeviceInformationRecord(vendor: "Acme", model: "One"),
        ]
        return uris + texts + handovers + others
    }()

    private static func check<Value: TypedRecord>(_ value: Value) throws {
        let record = try value.makeRecord(identifier: [0x69])
        #expect(record.identifier == [0x69])
        let bytes = try NDEFMessage([record]).encoded()
        let again = try #require(try NDEFMessage(decoding: bytes).records.first)
        #expect(try again == record && Value(again) == value, "\(value)")
        #expect(throws: NDEFError(.wrongType)) { try Value(NDEFRecord(.unknown)) }
        for count in 0..<record.payloadCount {
            // A payload that is cut is refused or read, and never traps.
            let cut = record.payloadSlice.prefix(count)
            _ = try? NDEFRecord(record.typeNameFormat, type: record.typeSlice, payload: cut).content()
        }
    }

    @Test func `Typed records: each value is the same after it was made a record and read again`() throws {
        for value in Self.values { try Self.check(value) }
        let networks = try WiFiRecord(
            attributes: ["a", "b"].flatMap { try WiFiRecord(WiFiCredential(ssid: $0, key: $0 + "1")).attributes }
        )
        try Self.check(networks)
        #expect(
            networks.credentials.map(\.ssidText) == ["a", "b"] && networks.credentials.map(\.keyText) == ["a1", "b1"]
        )
        for credential in networks.credentials {
            // WPA2 with AES, and any address.
            #expect(credential.authentication == 0x20 && credential.encryption == 8 && credential.networkIndex == 1)
            #expect(credential.macAddress == [UInt8](repeating: 0xFF, count: 6))
        }
    }

    @Test func `Typed records: each malformed payload throws its code, and the message around it stays readable`()
        throws
    {
        let media = [
            "bt": BluetoothEasyPairingRecord.mediaType, "le": BluetoothLowEnergyRecord.mediaType,
            "wifi": WiFiRecord.mediaType,
        ]
        // The record's type (`bt`, `le` and `wifi` are media), its payload, and the error's code; `ok` without one.
        for row in try Vector.lines(of: "payloads.txt") {
            let fields = row.split(separator: " ").map(String.init)
            let payload = Hex.bytes(fields[1..<fields.count - 1].joined())
            let record = media[fields[0]].map { .media(type: $0, payload: payload) } ?? wellKnown(fields[0], payload)
            var code = "ok"
            do throws(NDEFError) { _ = try record.content() } catch { code = error.code.description }
            #expect(code == fields.last, "\(row)")
            #expect(try NDEFMessage(decoding: NDEFMessage([record]).encoded()).records == [record])
        }
    }

    /// Fields with a limit: the largest count that can be written, and a value with so many.
    private static let limits: [(String, Int, @Sendable (Int) -> any TypedRecord)] = {
        @Sendable func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 0x61, count: count) }
        @Sendable func select(_ carrier: AlternativeCarrier) -> HandoverRecord {
            HandoverRecord(.select, version: .init(1, 2), carriers: [carrier])
        }
        let full = [AdvertisingData](repeating: AdvertisingData(type: 9, value: bytes(254)), count: 255)
        return [
            ("carrier reference", 255, { select(.init(power: .active, reference: bytes($0))) }),
            (
                "auxiliary reference", 255,
                { select(.init(power: .active, reference: [1], auxiliaryReferences: [bytes($0)])) }
            ),
            (
                "auxiliary references", 255,
                { select(.init(power: .active, reference: [1], auxiliaryReferences: bytes($0).map { [$0] })) }
            ),
            (
                "carrier type", 255,
                { HandoverCarrierRecord(carrierTypeFormat: 1, carrierType: String(repeating: "a", count: $0)) }
            ),
            ("Bluetooth structure", 254, { BluetoothLowEnergyRecord(structures: [.init(type: 9, value: bytes($0))]) }),
            // 8 bytes of length and address, 255 structures of 256 bytes, and the last one.
            (
                "Bluetooth data", 245,
                { BluetoothEasyPairingRecord(address: bytes(6), structures: full + [.init(type: 9, value: bytes($0))]) }
            ), ("signature", 0xFFFF, { SignatureRecord(signature: bytes($0)) }),
            ("certificate", 0xFFFF, { SignatureRecord(signature: [1], certificates: [[2], bytes($0)]) }),
            ("certificates", 15, { SignatureRecord(signature: [1], certificates: bytes($0).map { [$0] }) }),
            (
                "device element", 255,
                {
                    var record = DeviceInformationRecord(vendor: "v", model: "m")
                    record.elements.append(.init(type: 2, value: bytes($0)))
                    return record
                }
            ),
        ]
    }()

    @Test func `Typed records: the longest value of each field is written and read, one more throws valueTooLong`()
        throws
    {
        func isKept<Value: TypedRecord>(_ value: Value) throws -> Bool { try Value(value.makeRecord()) == value }
        for (name, limit, make) in Self.limits {
            for count in [limit - 1, limit] { #expect(try isKept(make(count)), "\(name) of \(count)") }
            #expect(throws: NDEFError(.valueTooLong), "\(name)") { try make(limit + 1).makeRecord() }
        }
        for count in [0xFFFF, 0x10000] {
            let value = [UInt8](repeating: 7, count: count)
            let record = Result { try WiFiRecord(attributes: [.init(id: 0x104A, value: value)]).makeRecord() }
            guard count == 0xFFFF else {
                #expect(throws: NDEFError(.valueTooLong)) { try record.get() }
                continue
            }
            #expect(try record.get().payload.prefix(4) == [0x10, 0x4A, 0xFF, 0xFF])
            #expect(try WiFiRecord(record.get()).attributes.map(\.value) == [value])
        }
    }

    @Test func `Typed records: each kind of value that can't be encoded throws its code`() {
        let icon = SmartPosterRecord.Icon(type: "image/" + String(repeating: "x", count: 250), data: [1])
        func request(_ byte: UInt8) -> HandoverRecord {
            HandoverRecord(.request, version: .init(byte: byte), carriers: [])
        }
        func failing(_ reason: UInt8, _ count: Int) -> HandoverRecord {
            let failure = HandoverRecord.Failure(reason: reason, data: [UInt8](repeating: 9, count: count))
            return HandoverRecord(.select, version: .init(1, 5), carriers: [], failure: failure)
        }
        var address = SignatureRecord(signatureType: 1, signature: [1, 2])
        address.certificateURI = Array("https://e/\u{1F}".utf8)
        var rows: [(any TypedRecord, NDEFError.Code)] = [
            (SmartPosterRecord(uri: URIRecord("https://e.com"), icons: [icon]), .inner(.typeTooLong)),
            (address, .controlCharacter),
            (SignatureRecord(isSignatureURI: true, signature: Array("http://a\n".utf8)), .controlCharacter),
            (DeviceInformationRecord(vendor: "", model: "m"), .missingElement),
            (DeviceInformationRecord(vendor: "v", model: ""), .missingElement), (failing(0, 1), .errorReserved),
        ]
        for count in [0, 5, 7] {
            rows.append((BluetoothEasyPairingRecord(address: [UInt8](repeating: 1, count: count)), .tooShort))
        }
        for (reason, length): (UInt8, Int) in [(1, 1), (2, 4), (3, 1)] {
            for count in 0...5 where count != length { rows.append((failing(reason, count), .errorLength)) }
        }
        // From version 1.2 on a request has a number.
        for byte: UInt8 in [0x12, 0x1F, 0x20, 0x21, 0xF0] { rows.append((request(byte), .collisionLength)) }
        for (value, code) in rows { #expect(throws: NDEFError(code), "\(value)") { try value.makeRecord() } }
        for byte: UInt8 in [0x00, 0x02, 0x0F, 0x10, 0x11] {
            #expect(throws: Never.self) { try #expect(HandoverRecord(request(byte).makeRecord()) == request(byte)) }
        }
        #expect(throws: NDEFError(.emptyPayload)) { try WiFiRecord(attributes: []).makeRecord() }
        #expect(throws: NDEFError(.valueTooLong)) {
            try WiFiRecord(WiFiCredential(ssid: String(repeating: "a", count: 0x10000), key: ""))
        }
    }

    @Test func `Typed records: reserved bits of a field are ignored when read and 0 when written`() throws {
        for format: UInt8 in 0...7 {
            for flags in [format, format | 0xF8] {
                let record = try HandoverCarrierRecord(wellKnown("Hc", [flags, 1, 0x61]))
                #expect(try record.carrierTypeFormat == format && record.makeRecord().payload == [format, 1, 0x61])
            }
        }
        for state in AlternativeCarrier.PowerState.allCases {
            for others: UInt8 in [0x00, 0x04, 0xFC] {
                let inner = try NDEFMessage([wellKnown("ac", [state.rawValue | others, 1, 0x30, 0])]).encoded()
                #expect(try HandoverRecord(wellKnown("Hs", [0x12] + inner)).carriers.map(\.power) == [state])
            }
        }
        let signature = SignatureRecord(signatureType: 0x8B, signature: [1, 2], certificateFormat: 0x0A)
        #expect(try signature.makeRecord().payload == [0x20, 0x0B, 2, 0, 2, 1, 2, 0x20])
        #expect(HandoverRecord.Version(0x21, 0x35).byte == 0x15)
    }

    @Test(arguments: HandoverRecord.Role.allCases)
    func `Handover: only a request has a collision number, and only a select record an error record`(
        role: HandoverRecord.Role
    ) throws {
        let failure = HandoverRecord.Failure(reason: 1, data: [9])
        let version = HandoverRecord.Version(1, 5)
        let both = HandoverRecord(role, version: version, carriers: [], collisionNumber: 0x1234, failure: failure)
        // The records of the other roles are malformed, and must not be read.
        let number = wellKnown("cr", role == .request ? [0x12, 0x34] : [1])
        let reason = wellKnown("err", role == .select ? [1, 9] : [1])
        let inner = try NDEFMessage([number, reason, NDEFRecord(.external, type: Array("ac".utf8))]).encoded()
        for record in [try both.makeRecord(), wellKnown(role.type, [0x15] + inner)] {
            let read = try HandoverRecord(record)
            #expect(read.role == role && read.carriers.isEmpty)
            #expect(read.collisionNumber == (role == .request ? 0x1234 : nil))
            #expect(read.failure == (role == .select ? failure : nil))
        }
    }

    @Test func `Wi-Fi: each optional attribute is kept, alone and with the others, in the specification's order`()
        throws
    {
        for present in 0..<16 {
            let credential = WiFiCredential(
                ssid: "a",
                key: present & 8 == 0 ? "" : "b",
                authentication: present & 1 != 0 ? 0x1220 : nil,
                encryption: present & 2 != 0 ? 0x3408 : nil,
                networkIndex: present & 4 != 0 ? 5 : nil,
                macAddress: present & 8 != 0 ? [1, 2, 3, 4, 5, 6] : nil
            )
            var inner = present & 4 != 0 ? Hex.bytes("1026000105") : []
            inner += Hex.bytes("1045000161")
            if present & 1 != 0 { inner += Hex.bytes("100300021220") }
            if present & 2 != 0 { inner += Hex.bytes("100f00023408") }
            inner += Hex.bytes(present & 8 != 0 ? "1027000162 10200006010203040506" : "10270000")
            let record = try WiFiRecord(credential).makeRecord()
            #expect(record.payload == [0x10, 0x0E, 0, UInt8(inner.count)] + inner)
            #expect(try WiFiRecord(record).credentials == [credential])
        }
    }

    @Test(arguments: 0...3)
    func `Wi-Fi: authentication and encryption of two bytes and an index of one are read, other sizes give nil`(
        size: Int
    ) throws {
        let value = [0, UInt8(size)] + [1, 2, 3].prefix(size)
        let inner = [0x10, 0x03] + value + [0x10, 0x0F] + value + [0x10, 0x26] + value + Hex.bytes("1045000161")
        let payload = [0x10, 0x0E, 0, UInt8(inner.count)] + inner
        let record = try WiFiRecord(.media(type: WiFiRecord.mediaType, payload: payload))
        let credential = try #require(record.credentials.first)
        let number: UInt16? = size == 2 ? 0x0102 : nil
        #expect(credential.authentication == number && credential.encryption == number)
        #expect(credential.networkIndex == (size == 1 ? 1 : nil))
    }

    @Test func `Record kinds: media and external types match without case, well-known types with it`() throws {
        let rows: [(NDEFRecord, RecordKind)] = [
            (.media(type: "APPLICATION/Vnd.wfa.WSC", payload: []), .wifi),
            (.media(type: "application/vnd.wfa.wsd", payload: []), .media),
            (.external(type: "Android.COM:pkg", payload: []), .androidApplication),
            (.external(type: "android.com:pk", payload: []), .external),
            (.external(type: "android.com:pkg2", payload: []), .external),
            (.external(type: "", payload: []), .external), (wellKnown("Sig", []), .signature),
            (.absoluteURI("urn:x"), .absoluteURI), (.androidApplication(package: "e"), .androidApplication),
        ]
        for (record, kind) in rows { #expect(record.kind == kind, "\(record)") }
        for type in ["sig", "SIg", "SiG", "Saq", "u", "t", "sp", "hs", "di"] {
            #expect(wellKnown(type, []).kind == .wellKnown, "\(type)")
        }
        #expect(try NDEFRecord(.media, type: [0x61, 0xFF, 0xE9]).content() == .media(type: "aÿé"))
        #expect(try HandoverCarrierRecord(wellKnown("Hc", [4, 1, 0xFC])).carrierType == "ü")
    }

    @Test func `Smart poster: images and videos are icons, and the size has four bytes`() throws {
        let types = ["image/png", "VIDEO/mpeg", "Image/gif", "text/plain", "imagex/png", "application/video", "image"]
        let media = types.map { NDEFRecord.media(type: $0, payload: [1]) }
        let payload = try NDEFMessage([try NDEFRecord.uri("https://e.com")] + media).encoded()
        let poster = try SmartPosterRecord(wellKnown("Sp", payload))
        #expect(poster.icons.map(\.type) == ["image/png", "VIDEO/mpeg", "Image/gif"])
        let sized = try SmartPosterRecord(uri: URIRecord("tel:1"), size: 0x0102_0304).makeRecord()
        #expect(sized.payload.suffix(4) == [1, 2, 3, 4])
    }

    @Test func `Device information: the first of two vendors counts, and a name that is not UTF-8 is nil`() throws {
        let record = DeviceInformationRecord(elements: [
            .init(type: 0, value: [0x76]), .init(type: 1, value: [0xFF]), .init(type: 0, value: [0x77]),
        ])
        let read = try DeviceInformationRecord(record.makeRecord())
        #expect(read == record && read.vendor == "v" && read.model == nil)
    }
}
