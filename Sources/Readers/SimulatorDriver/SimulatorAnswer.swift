// SPDX-License-Identifier: Apache-2.0
import TagLink
import TextSafety

/// The answer to a request.
struct SimulatorAnswer: Sendable {
    private let line: JSONLine

    init(_ line: JSONLine) { self.line = line }

    /// Throws the error that the answer reports, if any.
    func check() throws(LinkError) {
        guard let name = line.string("error") else { return }
        let message = VisibleText.escaped(line.string("message") ?? name)
        throw LinkError(Self.codes[name] ?? .readerUnavailable, message, collision: try collision())
    }

    private static let codes: [String: LinkError.Code] = [
        "timeout": .timeout, "tag-removed": .tagRemoved, "transmission": .transmission, "collision": .collision,
        "frame-too-long": .frameTooLong, "reader-unavailable": .readerUnavailable, "cancelled": .cancelled,
        "unsupported": .unsupported, "protocol-violation": .protocolViolation, "in-use": .inUse,
    ]

    private func collision() throws(LinkError) -> LinkError.Collision? {
        guard line["collision_bit"] != nil else { return nil }
        guard let index = line.number("collision_bit"), (0...4096).contains(index), let bits = bytes("collision_bits"),
            bits.count == (index + 7) / 8
        else { throw SimulatorError.nonsense("The place of a collision is invalid.") }
        return LinkError.Collision(bitIndex: index, bits: bits)
    }

    /// The frame of a tag, and the time that the exchange took; nil when the simulator does not say it.
    func frame() throws(LinkError) -> (Frame, elapsed: Airtime?) {
        let bits = line["bits"] == nil ? 8 : line.number("bits")
        guard let bytes = bytes("bytes"), bytes.count <= 4096, let bits, (1...8).contains(bits) else {
            throw SimulatorError.nonsense("A frame is invalid.")
        }
        var frame = Frame(bits: bytes, validBitsInLastByte: bits)
        switch line.string("checksum") {
        case "none": frame.checksum = .none
        case "crc-b": frame.checksum = .crcB
        case "automatic": frame.checksum = .automatic
        case nil: frame.checksum = bits == 8 ? .automatic : .none
        default: throw SimulatorError.nonsense("A frame has an unknown checksum.")
        }
        let elapsed = line.number("elapsed_us").flatMap { (0...1 << 40).contains($0) ? $0 : nil }
        return (frame, elapsed.map { .microseconds(Int64($0)) })
    }

    /// The number of a tag's arrival; nil when the tag is not near.
    func arrival() -> UInt64? { line.number("arrival").flatMap { UInt64(exactly: $0) } }

    private func bytes(_ key: String) -> [UInt8]? {
        guard case .string(let digits)? = line[key] else { return nil }
        return [UInt8](hexadecimal: digits)
    }
}
