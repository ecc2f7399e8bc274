// SPDX-License-Identifier: Apache-2.0
import TagLink

/// A trace as a file for Wireshark and similar programs, in the format pcapng.
///
/// Each frame of ISO/IEC 14443 is a packet of link type 264, with its checksum. The packet's comment is the meaning of
/// the frame, as in a trace. FeliCa, ISO/IEC 15693 and commands without frames have no such link type and are left out.
public struct PacketCapture: Sendable, Hashable {
    /// The content of the file.
    public var bytes: [UInt8]
    /// The number of packets, including those for a field that was turned on or off.
    public var packetCount: Int
    /// What was left out, as sentences. They are also the comments of the file's section.
    public var notes: [String]
}

extension Trace {
    /// Returns the trace as a capture for Wireshark.
    ///
    /// Passwords, PINs and keys are zeros, with a checksum that fits the zeros. An answer that did not come in time has
    /// no packet. A damaged answer has none either, because a trace does not contain its bytes; the comment of the
    /// request says so. When several tags answered at once, the packet has the bits that were equal.
    ///
    /// - Parameter start: the time of the trace's start, since 1 January 1970 UTC. An entry of unknown time gets the
    ///   time of the entry before it.
    /// - Returns: the capture.
    public func pcapng(start: Duration = .zero) -> PacketCapture {
        var builder = PacketCaptureBuilder(start: start)
        for entry in entries { builder.add(entry) }
        return builder.capture
    }
}

/// Makes the packets of a trace, entry by entry.
struct PacketCaptureBuilder {
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
    /// How many exchanges were left out, in the order of the kinds.
    private var leftOut = [0, 0, 0]

    init(start: Duration) {
        self.start = start
        time = start
    }

    /// Adds the packets of an entry.
    mutating func add(_ entry: Trace.Entry) {
        if let sinceStart = entry.time { time = start + sinceStart }
        let lines = lines.lines(of: entry)
        switch entry.event {
        case .field(let isOn): add(isOn ? .fieldOn : .fieldOff, [])
        case .note(let text): pending.append(text)
        case .exchange(let exchange):
            guard case .frames(let technology) = exchange.medium, technology == .nfcA || technology == .nfcB else {
                return leave(out: exchange.medium)
            }
            add(exchange, technology, lines)
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

    /// The meaning of a frame, and its bits when they are not obvious. A frame of 7 bits is always a short frame.
    private static func comment(_ meaning: String, _ frame: Frame) -> String {
        let bits = frame.validBitsInLastByte
        return bits == 8 || frame.bitCount == 7 ? meaning : "\(meaning) (\(counted(bits, "bit")) in the last byte)"
    }

    private mutating func add(_ event: Event, _ frame: [UInt8], _ comments: [String] = []) {
        let data = [0, event.rawValue] + [UInt8](bigEndian: frame.count, count: 2) + frame
        packets.add(data, at: time, comments: pending + comments)
        pending = []
    }

    private mutating func leave(out medium: Trace.Medium) {
        switch medium {
        case .frames(.nfcF): leftOut[0] += 1
        case .frames: leftOut[1] += 1
        case .commands: leftOut[2] += 1
        }
    }

    /// The file with the packets so far.
    var capture: PacketCapture {
        let kinds = [
            "of FeliCa: the capture can hold ISO 14443 only", "of ISO 15693: the capture can hold ISO 14443 only",
            "of commands whose frames the reader made by itself: the recording does not have the frames",
        ]
        let notes = zip(leftOut, kinds).filter { $0.0 > 0 }.map { "Left out: \(counted($0.0, "exchange")) \($0.1)." }
        return PacketCapture(
            bytes: packets.file(comments: notes + pending),
            packetCount: packets.count,
            notes: notes
        )
    }
}

extension Technology {
    /// The bytes of a frame on the air, with the checksum that the reader or the tag appends.
    fileprivate func onAir(_ frame: Frame) -> [UInt8] {
        switch frame.checksum {
        case .none: frame.bytes
        case .automatic: frame.bytes + checksum(frame.bytes)
        case .crcB: frame.bytes + CyclicRedundancyCheck.b(frame.bytes).littleEndianBytes
        }
    }
}
