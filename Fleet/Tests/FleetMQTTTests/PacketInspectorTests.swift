// SPDX-License-Identifier: Apache-2.0
import FleetMQTT
import Testing

@Suite("Packets of a broker")
struct PacketInspectorTests {
    /// What is found wrong in bytes that come in parts.
    private func fault(_ parts: [[UInt8]], hasProperties: Bool = true) -> String? {
        var inspector = PacketInspector(hasProperties: hasProperties)
        for part in parts {
            let isFine = unsafe part.withUnsafeBytes { unsafe inspector.take($0) }
            #expect(isFine == (inspector.fault == nil))
        }
        return inspector.fault
    }

    static let right: [[UInt8]] = [
        // CONNACK: without properties, of 3.1.1, and with a text, a pair and numbers of each size.
        [0x20, 3, 0, 0, 0], [0x20, 2, 0, 1],
        [0x20, 30, 0, 0, 27, 0x12, 0, 1, 0x61, 0x26, 0, 1, 0x62, 0, 2, 0x63, 0x64]
            + [0x24, 1, 0x21, 0, 9, 0x27, 0, 0, 1, 0, 0x1F, 0, 0, 0x2A, 1],
        // PUBLISH with QoS 0 and 1; what looks like a property in the content is none.
        [0x30, 6, 0, 1, 0x61, 0, 0x41, 0x41], [0x32, 10, 0, 1, 0x61, 0, 7, 2, 0x0B, 0x05, 0x41, 0x41],
        // QoS 2 has a number too.
        [0x34, 7, 0, 1, 0x61, 0, 7, 0, 0x41],
        // PUBACK in its three lengths, PINGRESP, SUBACK, DISCONNECT in its lengths.
        [0x40, 2, 0, 1], [0x40, 3, 0, 1, 0x87], [0x40, 7, 0, 1, 0x87, 3, 0x1F, 0, 0], [0xD0, 0],
        [0x90, 4, 0, 1, 0, 1], [0xE0, 0], [0xE0, 1, 0x8E], [0xE0, 2, 0x8E, 0],
    ]

    @Test("Packets that libmosquitto understands go to it, whole and split at every byte", arguments: right)
    func understood(_ packet: [UInt8]) {
        #expect(fault([packet]) == nil)
        #expect(fault([packet + packet]) == nil)
        #expect(fault(packet.map { [$0] }) == nil)
        for index in packet.indices {
            #expect(fault([Array(packet[..<index]), Array(packet[index...]) + packet]) == nil)
            #expect(fault([Array(packet[..<index])]) == nil)
        }
    }

    static let wrong: [[UInt8]] = [
        [0x30, 5, 0, 1, 0x61, 1, 0x41, 0x78, 0x78], [0x20, 5, 0, 0, 2, 0x41, 0xFF],
        [0x40, 6, 0, 1, 0, 2, 0x04, 0], [0x90, 6, 0, 1, 2, 0x80, 1, 1], [0xB0, 6, 0, 1, 2, 0x7F, 1, 1],
        // Behind a topic and a number, or a number and a reason, also where nothing else is.
        [0x34, 8, 0, 1, 0x61, 0, 7, 2, 0x41, 1], [0x40, 4, 0, 1, 0, 2],
        [0xE0, 4, 0, 2, 0x41, 0], [0xF0, 4, 0, 2, 0x41, 0], [0x70, 6, 0, 1, 0, 2, 0, 0],
        // A property that goes on after the end of all, so that the content would be taken for one.
        [0x30, 8, 0, 1, 0x61, 1, 0x01, 0, 0x41, 0x41], [0x30, 3, 0, 9, 0x61], [0x20, 1, 0],
        [0x20, 7, 0, 0, 0x80, 0x80, 0x80, 0x80, 1],
    ]

    @Test("A packet that would end the process is found at its last byte", arguments: wrong)
    func dangerous(_ packet: [UInt8]) throws {
        // What is behind its length belongs to the next packet.
        let packet = Array(packet.prefix(2 + Int(packet[1])))
        #expect(fault([packet]) != nil)
        #expect(fault(packet.map { [$0] }) != nil)
        #expect(fault([packet.dropLast()]) == nil)
        #expect(fault([[0xD0, 0] + packet]) != nil)
        // MQTT 3.1.1 has no properties.
        #expect(fault([packet], hasProperties: false) == nil)
    }

    /// The identifiers of MQTT 5.0, 2.2.2.2, by the bytes of a value.
    static let properties: [(value: [UInt8], identifiers: [UInt8])] = [
        ([1], [0x01, 0x17, 0x19, 0x24, 0x25, 0x28, 0x29, 0x2A]), ([0, 9], [0x13, 0x21, 0x22, 0x23]),
        ([0, 0, 0, 0], [0x02, 0x11, 0x18, 0x27]), ([0x81, 0x80, 0x01], [0x0B]),
        ([0, 2, 0x41, 0x42], [0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, 0x1F]), ([0, 1, 0x41, 0, 0], [0x26]),
    ]

    @Test("Every property of MQTT 5 is known with its length, and no other one")
    func everyProperty() {
        var known: Set<UInt8> = []
        for (value, identifiers) in Self.properties {
            for identifier in identifiers {
                known.insert(identifier)
                func accepted(_ properties: [UInt8]) -> [UInt8] {
                    let count = UInt8(properties.count)
                    return [0x20, 3 + count, 0, 0, count] + properties
                }
                let property = [identifier] + value
                // Twice, so that a value that is taken for a longer or a shorter one is noticed.
                #expect(fault([accepted(property + property)]) == nil, "\(identifier)")
                #expect(fault([accepted(property.dropLast())]) != nil, "\(identifier)")
            }
        }
        for identifier in UInt8.min...UInt8.max where !known.contains(identifier) {
            let packet: [UInt8] = [0x20, 8, 0, 0, 5, identifier, 0, 0, 0, 0]
            #expect(fault([packet])?.contains("0x\(String(identifier, radix: 16))") == true)
        }
    }

    @Test("A packet has 2 MiB at most, and a length of 4 bytes at most")
    func sizes() {
        #expect(fault([[0x30, 0xFF, 0xFF, 0xFF, 0x7F]], hasProperties: false) != nil)
        #expect(fault([[0x30, 0x80, 0x80, 0x80, 0x01]]) == nil)
        #expect(fault([[0x30, 0x81, 0x80, 0x80, 0x01]]) != nil)
        #expect(fault([[0x30, 0x80, 0x80, 0x80, 0x80]]) != nil)
    }

    @Test("The reason names the property")
    func reason() {
        #expect(fault([[0x20, 5, 0, 0, 2, 0x41, 0xFF]])?.contains("0x41") == true)
    }
}
