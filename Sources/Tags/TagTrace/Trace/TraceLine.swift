// SPDX-License-Identifier: Apache-2.0
public import TagLink

/// One line of a trace: one direction of an exchange, or another event.
public struct TraceLine: Sendable, Hashable {
    /// The direction of the bytes.
    public enum Direction: String, Sendable, Hashable {
        /// From the reader to the tag.
        case request = ">"
        /// From the tag to the reader.
        case answer = "<"
        /// None, because the line is not part of an exchange.
        case none = " "
    }

    /// The number of the exchange, from 1; nil for other events.
    public var number: Int?
    /// The time since the trace started; nil when this is unknown.
    public var time: Duration?
    /// The medium of the exchange; nil for other events.
    public var medium: Trace.Medium?
    /// The direction of the bytes.
    public var direction: Direction
    /// The frame, with zeros in place of passwords, PINs and keys; nil when there was none.
    public var frame: Frame?
    /// The ranges of those zeros.
    public var concealed: [Range<Int>] = []
    /// The description in words.
    public var meaning: String
}

extension Trace {
    /// The lines of the trace, each with a description.
    public var lines: [TraceLine] {
        var writer = TraceLineWriter()
        return entries.flatMap { writer.lines(of: $0) }
    }
}

extension LinkError.Code {
    /// A short description of the code.
    package var words: String {
        switch self {
        case .timeout: "nothing came in time"
        case .tagRemoved: "the tag left"
        case .transmission: "damaged"
        case .collision: "several tags at once"
        case .frameTooLong: "too long"
        case .readerUnavailable: "the reader is not there"
        case .cancelled: "cancelled"
        case .unsupported: "the reader can't send it"
        case .protocolViolation: "against the protocol"
        case .inUse: "in use by another program"
        default: description
        }
    }
}
