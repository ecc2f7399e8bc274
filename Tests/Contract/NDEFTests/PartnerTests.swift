// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Payloads of writers that do otherwise, and values of callers that have no place in a payload.
@Suite("Records of odd writers and callers")
struct PartnerTests {
    private func wellKnown(_ type: String, _ payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.wellKnown, type: Array(type.utf8), payload: payload)
    }

    @Test("Two records are the same only if each part is")
    func parts() {
        let record = NDEFRecord(.media, type: [0x61], identifier: [1], payload: [2])
        #expect(record == NDEFRecord(.media, type: [0x61], identifier: [1], payload: [2]))
        for other in [
            NDEFRecord(.external, type: [0x61], identifier: [1], payload: [2]),
            NDEFRecord(.media, type: [0x62], identifier: [1], payload: [2]),
            NDEFRecord(.media, type: [0x61], identifier: [3], payload: [2]),
            NDEFRecord(.media, type: [0x61], identifier: [], payload: [2]),
            NDEFRecord(.media, type: [0x61], identifier: [1], payload: [3]),
            NDEFRecord(.media, type: [0x61, 1], identifier: [], payload: [2]),
        ] { #expect(record != other) }
    }

    @Test("A name that is no UTF-8 has a character for each byte")
    func names() throws {
        #expect(try NDEFRecord(.media, type: [0x61, 0xFF, 0xE9]).content() == .media(type: "aÿé"))
        #expect(try HandoverCarrierRecord(wellKnown("Hc", [4, 1, 0xFC])).carrierType == "ü")
    }

    // MARK: Handover

    @Test("A request needs its number from version 1.2 on, to be read and to be written")
    func collisionNumber() throws {
        for (minor, isNeeded): (UInt8, Bool) in [(0, false), (1, false), (2, true), (5, true)] {
            let version = HandoverRecord.Version(1, minor)
            let request = HandoverRecord(.request, version: version, carriers: [])
            if isNeeded {
                #expect(throws: RecordError(.collisionLength)) { try request.makeRecord() }
                #expect(throws: RecordError(.collisionLength)) { try HandoverRecord(wellKnown("Hr", [version.byte])) }
            } else {
                #expect(try request.makeRecord().payload == [version.byte])
                #expect(try HandoverRecord(wellKnown("Hr", [version.byte])) == request)
            }
        }
    }

    @Test("A version is both of its numbers: what came before 1.2 needs no number, what came after it does")
    func majorVersions() throws {
        let earlier: [UInt8] = [0x00, 0x02, 0x0F, 0x10, 0x11]
        for byte in earlier + [0x12, 0x1F, 0x20, 0x21, 0x30, 0xF0] {
            let version = HandoverRecord.Version(byte: byte)
            let request = HandoverRecord(.request, version: version, carriers: [])
            if earlier.contains(byte) {
                #expect(try request.makeRecord().payload == [byte])
                #expect(try HandoverRecord(wellKnown("Hr", [byte])) == request)
            } else {
                #expect(throws: RecordError(.collisionLength), "\(version)") { try request.makeRecord() }
                #expect(throws: RecordError(.collisionLength), "\(version)") {
                    try HandoverRecord(wellKnown("Hr", [byte]))
                }
            }
            let numbered = HandoverRecord(.request, version: version, carriers: [], collisionNumber: 0x0102)
            #expect(try HandoverRecord(numbered.makeRecord()) == numbered)
        }
    }

    @Test("Carriers keep their order and their auxiliary references theirs, whatever is between them")
    func carrierOrder() throws {
        let carriers = [
            AlternativeCarrier(power: .active, reference: [0x61], auxiliaryReferences: [[0x31], [0x32], [0x33]]),
            AlternativeCarrier(power: .inactive, reference: [0x62]),
            AlternativeCarrier(power: .unknown, reference: [0x63], auxiliaryReferences: [[], [0x34]]),
        ]
        let request = HandoverRecord(.request, version: .init(1, 5), carriers: carriers, collisionNumber: 0x0102)
        #expect(try HandoverRecord(request.makeRecord()) == request)
        let inner = try NDEFMessage([
            wellKnown("ac", [1, 1, 0x61, 3, 1, 0x31, 1, 0x32, 1, 0x33]), wellKnown("ac", [0, 1, 0x62, 0]),
            wellKnown("cr", [1, 2]), wellKnown("ac", [3, 1, 0x63, 2, 0, 1, 0x34]),
        ]).encoded()
        #expect(try HandoverRecord(wellKnown("Hr", [0x15] + inner)) == request)
    }

    @Test(
        "Only a request has a number, and only a select says why it can't go on",
        arguments: HandoverRecord.Role.allCases
    )
    func roles(role: HandoverRecord.Role) throws {
        let failure = HandoverRecord.Failure(reason: 1, data: [9])
        let written = try HandoverRecord(
            role,
            version: .init(1, 5),
            carriers: [],
            collisionNumber: 0x1234,
            failure: failure
        ).makeRecord()
        // The numbers of others would be malformed: they are not looked at.
        let number = wellKnown("cr", role == .request ? [0x12, 0x34] : [1])
        let reason = wellKnown("err", role == .select ? [1, 9] : [1])
        let inner = try NDEFMessage([number, reason, NDEFRecord(.external, type: Array("ac".utf8))]).encoded()
        for record in [written, wellKnown(role.type, [0x15] + inner)] {
            let read = try HandoverRecord(record)
            #expect(read.role == role && read.carriers.isEmpty)
            #expect(read.collisionNumber == (role == .request ? 0x1234 : nil))
            #expect(read.failure == (role == .select ? failure : nil))
        }
    }

    @Test(
        "The power of a carrier has two bits, and the others mean nothing",
        arguments: AlternativeCarrier.PowerState.allCases
    )
    func power(state: AlternativeCarrier.PowerState) throws {
        for others: UInt8 in [0x00, 0x04, 0xFC] {
            let inner = try NDEFMessage([wellKnown("ac", [state.rawValue | others, 1, 0x30, 0])]).encoded()
            let carriers = try HandoverRecord(wellKnown("Hs", [0x12] + inner)).carriers
            #expect(carriers == [AlternativeCarrier(power: state, reference: [0x30])])
        }
    }

    // MARK: Signatures, networks and devices

    @Test("Bits beyond a signature's fields do not become flags")
    func signatureBits() throws {
        let record = try SignatureRecord(signatureType: 0x8B, signature: [1, 2], certificateFormat: 0x0A).makeRecord()
        #expect(record.payload == [0x20, 0x0B, 2, 0, 2, 1, 2, 0x20])
        let read = try SignatureRecord(record)
        #expect(!read.isSignatureURI && read.signatureType == 0x0B)
        #expect(read.certificateFormat == 2 && read.certificateURI == nil)
        #expect(throws: RecordError(.controlCharacter)) {
            try SignatureRecord(isSignatureURI: true, signature: Array("http://a\n".utf8)).makeRecord()
        }
        #expect(try SignatureRecord(signature: Array("a\n".utf8)).makeRecord().payloadCount == 8)
    }

    @Test("A length before the attributes of a network has to be theirs")
    func networkLength() throws {
        let plain = try WiFiRecord(WiFiCredential(ssid: "Net", key: "secret")).makeRecord()
        for difference in [-1, 0, 1] {
            let length = plain.payloadCount + difference
            let payload = [UInt8(length >> 8), UInt8(length & 0xFF)] + plain.payload
            let record = NDEFRecord.media(type: WiFiRecord.mediaType, payload: payload)
            if difference == 0 {
                #expect(try WiFiRecord(record) == WiFiRecord(plain))
            } else {
                #expect(throws: RecordError(.attributeOverrun)) { try WiFiRecord(record) }
            }
        }
    }

    @Test("An address has six bytes, and a structure 255 with its type")
    func bluetooth() throws {
        for count in [0, 5, 7] {
            let record = BluetoothEasyPairingRecord(address: [UInt8](repeating: 1, count: count))
            #expect(throws: RecordError(.tooShort)) { try record.makeRecord() }
        }
        func record(_ count: Int) -> BluetoothLowEnergyRecord {
            BluetoothLowEnergyRecord(structures: [AdvertisingData(type: 9, value: Array(repeating: 7, count: count))])
        }
        #expect(try record(254).makeRecord().payload.prefix(2) == [255, 9])
        #expect(throws: RecordError(.valueTooLong)) { try record(255).makeRecord() }
    }

    @Test("A device without the name of its vendor or model is none, and a name that is no text is nil")
    func devices() throws {
        for (vendor, model) in [("", "m"), ("v", ""), ("", "")] {
            let record = DeviceInformationRecord(vendor: vendor, model: model)
            #expect(throws: RecordError(.missingElement)) { try record.makeRecord() }
            let payload: [UInt8] =
                [0, UInt8(vendor.utf8.count)] + Array(vendor.utf8) + [1, UInt8(model.utf8.count)] + Array(model.utf8)
            #expect(throws: RecordError(.missingElement)) { try DeviceInformationRecord(wellKnown("Di", payload)) }
        }
        let record = try DeviceInformationRecord(wellKnown("Di", [0, 1, 0x76, 1, 1, 0xFF]))
        #expect(record.vendor == "v" && record.model == nil)
    }

    // MARK: Texts and posters

    @Test("A language of other letters is refused, and none at all is read")
    func languages() throws {
        #expect(throws: RecordError(.badEncoding)) { try TextRecord(wellKnown("T", [2, 0xC3, 0xA9, 0x78])) }
        let text = try TextRecord(wellKnown("T", [0, 0x78]))
        #expect(text.text == "x" && text.language == "")
    }

    @Test("Pictures and videos are icons of a poster, in any case, and other media are not")
    func icons() throws {
        let types = ["image/png", "VIDEO/mpeg", "Image/gif", "text/plain", "imagex/png", "application/video", "image"]
        let media = types.map { NDEFRecord.media(type: $0, payload: [1]) }
        let payload = try NDEFMessage([try NDEFRecord.uri("https://e.com")] + media).encoded()
        let poster = try SmartPosterRecord(wellKnown("Sp", payload))
        #expect(poster.icons.map(\.type) == ["image/png", "VIDEO/mpeg", "Image/gif"])
    }
}
