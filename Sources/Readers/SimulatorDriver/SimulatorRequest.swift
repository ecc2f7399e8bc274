// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety

/// A line to the simulator: one JSON object.
struct SimulatorRequest: Sendable {
    private var writer = JSONWriter()

    /// Begins a request.
    ///
    /// - Parameters:
    ///   - name: what the simulator is to do.
    ///   - id: the number that its answer has; nil for a request without an answer.
    init(_ name: String, id: Int?) {
        self.init()
        if let id { add("id", id) }
        add("do", name)
    }

    private init() {
        // There is a request in each exchange.
        writer.text.reserveCapacity(128)
        writer.beginObject()
    }

    /// The first line of a connection.
    static func hello(program: String, process: Int32) -> SimulatorRequest {
        var request = SimulatorRequest()
        request.add("hello", 1)
        request.add("client", "app")
        request.add("name", program)
        request.add("pid", Int(process))
        return request
    }

    /// A frame for the tags near the phone.
    static func frame(_ frame: Frame, _ technology: Technology, timeout: Airtime, id: Int) -> SimulatorRequest {
        var request = SimulatorRequest("frame", id: id)
        request.add("technology", technology.simulatorName)
        request.add("bytes", hex: frame.bytes)
        request.add("bits", frame.validBitsInLastByte)
        request.add("checksum", frame.checksum.simulatorName)
        request.add("timeout_us", Int(timeout.microseconds))
        return request
    }

    mutating func add(_ key: StaticString, _ number: Int) { writer.member(key, number) }
    mutating func add(_ key: StaticString, _ bool: Bool) { writer.member(key, bool) }
    mutating func add(_ key: StaticString, _ string: String) { writer.member(key, string) }
    mutating func add(_ key: StaticString, hex bytes: [UInt8]) { writer.member(key, hex: bytes) }

    /// Adds a value that is JSON already.
    mutating func add(_ key: StaticString, json: String) {
        writer.key(key)
        writer.value(json: json)
    }

    /// The complete line.
    var line: [UInt8] {
        var writer = writer
        writer.endObject()
        writer.newLine()
        return writer.text
    }
}

extension Technology {
    fileprivate var simulatorName: String {
        switch self {
        case .nfcA: "nfc-a"
        case .nfcB: "nfc-b"
        case .nfcF: "nfc-f"
        case .nfcV: "nfc-v"
        }
    }

    init?(simulatorName name: String) {
        guard let technology = Self.allCases.first(where: { $0.simulatorName == name }) else { return nil }
        self = technology
    }
}

extension Frame.Checksum {
    fileprivate var simulatorName: String {
        switch self {
        case .automatic: "automatic"
        case .crcB: "crc-b"
        case .none: "none"
        }
    }
}
