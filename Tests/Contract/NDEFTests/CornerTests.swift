// SPDX-License-Identifier: Apache-2.0
import NDEF
import Testing

/// Records at the limits of their ranges, and faults with their own names.
@Suite struct `Corners of records` {
    private func media(_ type: String, _ payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.media, type: Array(type.utf8), payload: payload)
    }

    private func wellKnown(_ type: String, _ payload: [UInt8]) -> NDEFRecord {
        NDEFRecord(.wellKnown, type: Array(type.utf8), payload: payload)
    }

    @Test func `Bluetooth data may be as long as its length can say, and no longer`() throws {
        let address: [UInt8] = [1, 2, 3, 4, 5, 6]
        let full = [AdvertisingData](
            repeating: AdvertisingData(type: 9, value: Array(repeating: 7, count: 254)),
            count: 255
        )
        // 8 bytes of length and address, 255 structures of 256 bytes, and one of 247.
        let longest = BluetoothEasyPairingRecord(
            address: address,
            structures: full + [AdvertisingData(type: 9, value: Array(repeating: 7, count: 245))]
        )
        let record = try longest.makeRecord(identifier: [])
        #expect(record.payload.prefix(2) == [0xFF, 0xFF])
        #expect(try BluetoothEasyPairingRecord(record) == longest)
        let tooLong = BluetoothEasyPairingRecord(
            address: address,
            structures: full + [AdvertisingData(type: 9, value: Array(repeating: 7, count: 246))]
        )
        #expect(throws: RecordError(.valueTooLong)) { try tooLong.makeRecord(identifier: []) }
    }

    @Test func `Bluetooth data end with a length of 0, behind which nothing is read`() throws {
        let payload: [UInt8] = [12, 0, 6, 5, 4, 3, 2, 1, 0, 0, 0, 0]
        #expect(try BluetoothEasyPairingRecord(media(BluetoothEasyPairingRecord.mediaType, payload)).structures.isEmpty)
        let energy = try BluetoothLowEnergyRecord(media(BluetoothLowEnergyRecord.mediaType, [2, 0x1C, 1, 0, 9, 9]))
        #expect(energy.structures == [AdvertisingData(type: 0x1C, value: [1])])
    }

    @Test func `A network has its attributes with their identifiers, and numbers of two bytes`() throws {
        let credential = WiFiCredential(
            ssid: "a",
            key: "b",
            authentication: 0x1220,
            encryption: 0x3408,
            networkIndex: 5,
            macAddress: nil
        )
        let record = try WiFiRecord(credential).makeRecord(identifier: [])
        let expected: [UInt8] =
            [0x10, 0x26, 0, 1, 5, 0x10, 0x45, 0, 1, 0x61, 0x10, 0x03, 0, 2, 0x12, 0x20, 0x10, 0x0F, 0, 2, 0x34, 0x08]
            + [0x10, 0x27, 0, 1, 0x62]
        #expect(record.payload == [0x10, 0x0E, 0, UInt8(expected.count)] + expected)
        #expect(try WiFiRecord(record).credentials == [credential])
    }

    @Test func `An open network has a key without bytes, and not none`() throws {
        let credential = WiFiCredential(ssid: "a", key: "", authentication: 1, networkIndex: nil, macAddress: nil)
        let record = try WiFiRecord(credential).makeRecord(identifier: [])
        #expect(record.payload.suffix(4) == [0x10, 0x27, 0, 0])
        #expect(try WiFiRecord(record).credentials.map(\.key) == [[]])
    }

    @Test func `A total length before a network's attributes is that of all of them, and not 0`() throws {
        let attributes: [UInt8] = [0x10, 0x45, 0, 1, 0x61]
        let counted = try WiFiRecord(media(WiFiRecord.mediaType, [0, 5] + attributes))
        #expect(counted.attributes == [WiFiRecord.Attribute(id: 0x1045, value: [0x61])])
        for wrong in [[0, 4] + attributes, [0, 6] + attributes, [5, 0] + attributes, [0, 0]] as [[UInt8]] {
            #expect(throws: RecordError(.attributeOverrun), "\(wrong)") {
                try WiFiRecord(media(WiFiRecord.mediaType, wrong))
            }
        }
    }

    @Test func `A collision resolution number has two bytes`() throws {
        for bytes in [[1, 2, 3], [1], []] as [[UInt8]] {
            let inner = try NDEFMessage([wellKnown("cr", bytes)]).encoded()
            #expect(throws: RecordError(.collisionLength)) { try HandoverRecord(wellKnown("Hr", [0x12] + inner)) }
        }
        let inner = try NDEFMessage([wellKnown("cr", [1, 2])]).encoded()
        #expect(try HandoverRecord(wellKnown("Hr", [0x12] + inner)).collisionNumber == 0x0102)
    }

    @Test func `A select without carriers is its version alone`() throws {
        let record = try HandoverRecord(.select, version: .init(1, 2), carriers: []).makeRecord(identifier: [])
        #expect(record.payload == [0x12])
        #expect(try HandoverRecord(record).carriers.isEmpty)
    }

    @Test func `Device information without a byte is empty, and with one it is cut short`() {
        #expect(throws: RecordError(.emptyPayload)) { try DeviceInformationRecord(wellKnown("Di", [])) }
        #expect(throws: RecordError(.attributeOverrun)) { try DeviceInformationRecord(wellKnown("Di", [0])) }
    }

    @Test(arguments: ["Sig", "sig", "SIg", "SiG", "Saq", "xig", "Sxg", "Six", "xxg"])
    func `A signature is a record whose type is Sig, to the letter`(_ type: String) {
        #expect((wellKnown(type, []).kind == .signature) == (type == "Sig"))
    }

    @Test func `A signature without any byte is an empty payload`() {
        #expect(throws: RecordError(.emptyPayload)) { try SignatureRecord(wellKnown("Sig", [])) }
    }

    @Test(arguments: [(0x20, true), (0x1F, false), (0x00, false), (0x7E, true)])
    func `An address of certificates has no control characters`(_ byte: UInt8, _ isTaken: Bool) throws {
        var signature = SignatureRecord(signatureType: 1, signature: [1, 2])
        signature.certificateURI = Array("https://e.example/".utf8) + [byte]
        if isTaken {
            let record = try signature.makeRecord(identifier: [])
            #expect(try SignatureRecord(record).certificateURI == signature.certificateURI)
        } else {
            #expect(throws: RecordError(.controlCharacter)) { try signature.makeRecord(identifier: []) }
        }
    }

    @Test(arguments: [false, true]) func `What is read has an address of certificates by the same rules`(
        isSignatureURI: Bool
    ) throws {
        let type: UInt8 = isSignatureURI ? 0x81 : 0x01
        func read(_ address: [UInt8]) throws -> [UInt8]? {
            let payload = [1, type, 2, 0, 1, 0x61, 0x80, 0, UInt8(address.count)] + address
            return try SignatureRecord(wellKnown("Sig", payload)).certificateURI
        }
        #expect(try read([0x61, 0x20]) == [0x61, 0x20])
        #expect(throws: RecordError(.controlCharacter)) { try read([0x61, 0x0A]) }
        #expect(throws: RecordError(.badEncoding)) { try read([0xFF, 0xFE]) }
    }

    @Test func `A fault in a part of other bytes is counted from the part's begin`() {
        // The second record has a reserved type name format.
        let message: [UInt8] = [0x91, 1, 0, 0x55, 0x57, 1, 0, 0x55]
        var alone: NDEFError?
        var part: NDEFError?
        do throws(NDEFError) { _ = try NDEFMessage(decoding: message) } catch { alone = error }
        do throws(NDEFError) {
            _ = try NDEFMessage(decoding: [9, 9, 9] + message + [9], in: 3..<3 + message.count)
        } catch { part = error }
        #expect(alone != nil && part == alone)
        #expect(part?.offset == alone?.offset)
    }

    @Test(arguments: [1, 254, 255, 256, 257, 511])
    func `A record in chunks has the length that was said, at the edge of a short header too`(_ size: Int) throws {
        for count in [size, size + 1, 2 * size, 2 * size + 255, 2 * size + 256] {
            let message = NDEFMessage([
                NDEFRecord(.media, type: [0x61], identifier: [1], payload: [UInt8](repeating: 5, count: count))
            ])
            #expect(try message.encoded(chunkSize: size).count == message.encodedLength(chunkSize: size))
        }
    }

    @Test func `The length of a long chunk has four bytes, the highest first`() throws {
        let size = 0x01_0203
        let payload = [UInt8](repeating: 5, count: size + 1)
        let bytes = try NDEFMessage([NDEFRecord(.media, type: [0x61], payload: payload)]).encoded(chunkSize: size)
        #expect(bytes.prefix(8) == [0xA2, 1, 0, 1, 2, 3, 0x61, 5])
        #expect(bytes.suffix(4) == [0x56, 0, 1, 5])
    }

    @Test func `The size of what a smart poster points to has four bytes, the highest first`() throws {
        let poster = SmartPosterRecord(uri: URIRecord("tel:1"), size: 0x0102_0304)
        let record = try poster.makeRecord(identifier: [])
        #expect(record.payload.suffix(4) == [1, 2, 3, 4])
        #expect(try SmartPosterRecord(record) == poster)
    }

    @Test(arguments: [0, 1, 7])
    func `Bluetooth data without room for the address are too short, whatever they say`(_ count: Int) {
        let payload = Array(([8, 0, 1, 2, 3, 4, 5, 6] as [UInt8]).prefix(count))
        #expect(throws: RecordError(.tooShort)) {
            try BluetoothEasyPairingRecord(media(BluetoothEasyPairingRecord.mediaType, payload))
        }
    }

    @Test(arguments: [254, 255, 256])
    func `Types, names of carriers and numbers of them end at 255`(_ count: Int) throws {
        let bytes = [UInt8](repeating: 0x61, count: count)
        let isTaken = count <= 255
        let typed = NDEFMessage([NDEFRecord(.media, type: bytes, payload: [1])])
        let named = NDEFMessage([NDEFRecord(.media, type: [0x61], identifier: bytes, payload: [1])])
        for message in [typed, named] {
            #expect((try? NDEFMessage(decoding: message.encoded())) == (isTaken ? message : nil))
        }
        let carriers = [
            AlternativeCarrier(power: .active, reference: bytes),
            AlternativeCarrier(power: .active, reference: [1], auxiliaryReferences: [bytes]),
            AlternativeCarrier(power: .active, reference: [1], auxiliaryReferences: bytes.map { [$0] }),
        ]
        for carrier in carriers {
            let written = HandoverRecord(.select, version: .init(1, 2), carriers: [carrier])
            #expect((try? HandoverRecord(written.makeRecord(identifier: [])).carriers) == (isTaken ? [carrier] : nil))
        }
        let record = HandoverCarrierRecord(carrierTypeFormat: 1, carrierType: String(repeating: "a", count: count))
        #expect((try? HandoverCarrierRecord(record.makeRecord(identifier: []))) == (isTaken ? record : nil))
    }

    @Test(arguments: 0...7 as ClosedRange<UInt8>)
    func `The format of a carrier's type has three bits, and the others mean nothing`(_ format: UInt8) throws {
        for flags in [format, format | 0xF8] {
            let record = try HandoverCarrierRecord(wellKnown("Hc", [flags, 1, 0x61]))
            #expect(record.carrierTypeFormat == format)
            #expect(try record.makeRecord(identifier: []).payload == [format, 1, 0x61])
        }
    }

    @Test func `A device's element has 255 bytes at most`() throws {
        func record(_ count: Int) -> DeviceInformationRecord {
            var record = DeviceInformationRecord(vendor: "v", model: "m")
            record.elements.append(.init(type: 2, value: [UInt8](repeating: 7, count: count)))
            return record
        }
        let longest = try record(255).makeRecord(identifier: [])
        #expect(longest.payload.suffix(257).prefix(2) == [2, 255])
        #expect(try DeviceInformationRecord(longest) == record(255))
        #expect(throws: RecordError(.valueTooLong)) { try record(256).makeRecord(identifier: []) }
    }

    @Test func `A network record without attributes is refused`() {
        #expect(throws: RecordError(.emptyPayload)) {
            try WiFiRecord(attributes: []).makeRecord(identifier: [])
        }
    }

    @Test(arguments: ["application/vnd.wfa.wsc", "APPLICATION/VND.WFA.WSC", "Application/Vnd.Wfa.Wsc"])
    func `A media type is known in any case`(_ type: String) {
        #expect(media(type, []).kind == .wifi)
        #expect(media(String(type.dropLast()) + "d", []).kind == .media)
    }

    @Test func `A signature and a certificate have two bytes of length, and a chain fifteen certificates`() throws {
        func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }
        for longest in [
            SignatureRecord(signature: bytes(0xFFFF)), SignatureRecord(signature: [1], certificates: [bytes(0xFFFF)]),
            SignatureRecord(signature: [1], certificates: [[UInt8]](repeating: [2], count: 15)),
        ] { #expect(try SignatureRecord(longest.makeRecord(identifier: [])) == longest) }
        for longer in [
            SignatureRecord(signature: bytes(0x10000)),
            SignatureRecord(signature: [1], certificates: [[2], bytes(0x10000)]),
            SignatureRecord(signature: [1], certificates: [[UInt8]](repeating: [2], count: 16)),
        ] { #expect(throws: RecordError(.valueTooLong)) { try longer.makeRecord(identifier: []) } }
    }

    @Test func `A record that was read counts as the one that was made, also in a set`() throws {
        let message = NDEFMessage([
            NDEFRecord(.empty), NDEFRecord(.media, type: [0x61], identifier: [1], payload: [1, 2, 3, 4]),
        ])
        for bytes in [try message.encoded(), try message.encoded(chunkSize: 2)] {
            let read = try NDEFMessage(decoding: bytes).records
            #expect(Set(read + message.records).count == 2)
        }
    }

    @Test func `A message in chunks inside a record that is not the first is read from its own place`() throws {
        let title = try TextRecord("A title", language: "en").makeRecord()
        let inner = try NDEFMessage([.uri("https://e.com"), title]).encoded(chunkSize: 3)
        let outer = try NDEFMessage([.text("before", language: "en"), wellKnown("Sp", inner)]).encoded()
        let record = try #require(try NDEFMessage(decoding: outer).records.last)
        let poster = try SmartPosterRecord(record)
        #expect(poster.uri.uri == "https://e.com" && poster.titles == [TextRecord("A title", language: "en")])
    }

    @Test func `A device that gives its vendor twice has the first`() throws {
        let record = DeviceInformationRecord(elements: [
            .init(type: 0, value: [0x76]), .init(type: 1, value: [0x6D]), .init(type: 0, value: [0x77]),
            .init(type: 1, value: [0x6E]),
        ])
        let read = try DeviceInformationRecord(record.makeRecord(identifier: []))
        #expect(read == record && read.vendor == "v" && read.model == "m")
    }
}
