// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A trace as a pcapng file for Wireshark and similar programs.
///
/// Each frame of ISO/IEC 14443 becomes a packet of link type 264, with its checksum. The packet's comment describes the
/// frame, as in a trace. FeliCa, ISO/IEC 15693 and commands without frames have no such link type, so they are left
/// out.
public struct PacketCapture: Sendable, Hashable {
    /// The content of the file.
    public var bytes: [UInt8]
    /// The number of packets, including those for a field that was turned on or off.
    public var packetCount: Int
    /// Sentences that report what was left out. They are also the comments of the file's section.
    public var notes: [String]
}

extension Trace {
    /// Returns the trace as a capture for Wireshark.
    ///
    /// Passwords, PINs and keys are replaced by zeros, and the checksum is recomputed. A missing answer has no packet.
    /// Nor does a damaged answer, because a trace does not contain its bytes; the comment of the request reports it. If
    /// several tags answered at once, the packet has the bits in which they agreed.
    ///
    /// - Parameter start: the time of the trace's start, since 1 January 1970 UTC. An entry of unknown time gets the
    ///   time of the previous entry.
    /// - Returns: the capture.
    public func pcapng(start: Duration = .zero) -> PacketCapture {
        var builder = PacketCaptureBuilder(start: start)
        for entry in entries { builder.add(entry) }
        return builder.capture
    }
}

/// Builds the packets of a trace, entry by entry.
private struct PacketCaptureBuilder {
    /// The event byte of the pseudo header of link type 264.
    enum Event: UInt8 {
        case fieldOn = 0xFC
        case fieldOff = 0xFD
        case request = 0xFE
        case answer = 0xFF
    }

    private var packets = PacketFile()
    private var lines = TraceLineWriter()
    private var time: Duration
    private let start: Duration
    /// The notes of the trace since the last packet.
    private var pending: [String] = []
    /// The number of exchanges left out, for each kind in ``capture``.
    private var leftOut = [0, 0, 0]

    init(start: Duration) {
        self.start = start
        time = start
    }

    mutating func add(_ entry: Trace.Entry) {
        if let sinceStart = entry.time { time = start + sinceStart }
        let lines = lines.lines(of: entry)
        switch entry.event {
        case .field(let isOn): add(isOn ? .fieldOn : .fieldOff, [])
        case .note(let text): pending.append(text)
        case .exchange(let exchange):
            switch exchange.medium {
            case .frames(.nfcA): add(exchange, .nfcA, lines)
            case .frames(.nfcB): add(exchange, .nfcB, lines)
            case .frames(.nfcF): leftOut[0] += 1
            case .frames(.nfcV): leftOut[1] += 1
            case .commands: leftOut[2] += 1
            }
        }
    }

    private mutating func add(_ exchange: Trace.Exchange, _ technology: Technology, _ lines: [TraceLine]) {
        guard let request = lines.first, let frame = request.frame else { return }
        let answer = lines.dropFirst().first
        var comments = [Self.comment(request.meaning, frame)]
        var error: LinkError?
        if case .failure(let failure)? = exchange.answer, failure.code != .timeout {
            error = failure
            comments.append(answer?.meaning ?? "")
        }
        add(.request, technology.onAir(frame), comments)
        if let duration = exchange.duration { time += duration }
        if let answer, let frame = answer.frame {
            add(.answer, technology.onAir(frame), [Self.comment(answer.meaning, frame)])
        } else if let collision = error?.collision, !collision.bits.isEmpty {
            add(.answer, collision.bits, ["\(counted(collision.bitIndex, "bit")) before the tags differ"])
        }
    }

    /// Returns a frame's meaning, and its bit count if that is not obvious. A frame of 7 bits is always a short frame.
    private static func comment(_ meaning: String, _ frame: Frame) -> String {
        let bits = frame.validBitsInLastByte
        return bits == 8 || frame.bitCount == 7 ? meaning : "\(meaning) (\(counted(bits, "bit")) in the last byte)"
    }

    private mutating func add(_ event: Event, _ frame: [UInt8], _ comments: [String] = []) {
        let data = [0, event.rawValue] + [UInt8](bigEndian: frame.count, count: 2) + frame
        packets.add(data, at: time, comments: pending + comments)
        pending = []
    }

    var capture: PacketCapture {
        let kinds = [
            "of FeliCa: the format only supports ISO 14443", "of ISO 15693: the format only supports ISO 14443",
            "of commands whose frames the reader built itself: the recording lacks the frames",
        ]
        let notes = zip(leftOut, kinds).filter { $0.0 > 0 }.map { "Left out: \(counted($0.0, "exchange")) \($0.1)." }
        let bytes = packets.file(comments: notes + pending)
        return PacketCapture(bytes: bytes, packetCount: packets.count, notes: notes)
    }
}

extension Technology {
    /// Returns the bytes of a frame on the air, with the checksum that the reader or the tag appends.
    fileprivate func onAir(_ frame: Frame) -> [UInt8] {
        switch frame.checksum {
        case .none: frame.bytes
        case .automatic: frame.bytes + checksum(frame.bytes)
        case .crcB: frame.bytes + CyclicRedundancyCheck.b(frame.bytes).littleEndianBytes
        }
    }
}

/// The blocks of a pcapng file with one interface (draft-ietf-opsawg-pcapng), least significant byte first.
private struct PacketFile {
    /// ISO/IEC 14443 with a pseudo header of version, event and length.
    private static let linkType = 264
    private static let comment = 1

    private var packets: [UInt8] = []
    private(set) var count = 0

    mutating func add(_ data: [UInt8], at time: Duration, comments: [String]) {
        let nanoseconds = Int(clamping: time.wholeNanoseconds)
        let stamp = [nanoseconds >> 32, nanoseconds & 0xFFFF_FFFF, data.count, data.count]
        let body = Self.word(0) + stamp.flatMap { Self.word($0) } + Self.padded(data)
        let options = comments.map { Self.option(Self.comment, Array($0.utf8)) }
        packets += Self.block(6, body, options)
        count += 1
    }

    func file(comments: [String]) -> [UInt8] {
        let version = [UInt8](littleEndian: 1, count: 2) + [0, 0]
        let unknownLength = [UInt8](repeating: 0xFF, count: 8)
        let application = Self.option(4, Array("OpenCoreNFC".utf8))
        let section = Self.block(
            0x0A0D_0D0A,
            Self.word(0x1A2B_3C4D) + version + unknownLength,
            comments.map { Self.option(Self.comment, Array($0.utf8)) } + [application]
        )
        let name = Self.option(2, Array("nfc".utf8))
        let nanoseconds = Self.option(9, [9])
        let unlimited = Self.word(0)
        let interface = Self.block(1, [UInt8](littleEndian: Self.linkType, count: 4) + unlimited, [name, nanoseconds])
        return section + interface + packets
    }

    private static func block(_ type: Int, _ body: [UInt8], _ options: [[UInt8]]) -> [UInt8] {
        let end = options.isEmpty ? [] : word(0)
        let content = body + options.joined() + end
        let length = word(content.count + 12)
        return word(type) + length + content + length
    }

    /// Returns an option. Its length has 16 bits, so a longer text is cut off after a whole character.
    private static func option(_ code: Int, _ text: [UInt8]) -> [UInt8] {
        var end = min(text.count, 0xFFFF)
        while end < text.count, text[end] & 0xC0 == 0x80 { end -= 1 }
        let value = Array(text[..<end])
        return [UInt8](littleEndian: code, count: 2) + [UInt8](littleEndian: value.count, count: 2) + padded(value)
    }

    private static func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + [UInt8](repeating: 0, count: -bytes.count & 3) }

    private static func word(_ value: Int) -> [UInt8] { [UInt8](littleEndian: value, count: 4) }
}

extension Duration {
    /// The nanoseconds, rounded down; zero for a negative time.
    fileprivate var wholeNanoseconds: Int64 { Int64(clamping: max(0, attoseconds) / 1_000_000_000) }
}
