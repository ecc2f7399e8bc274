// SPDX-License-Identifier: Apache-2.0

/// The fast path for the messages that almost every tag holds: strict, without chunks, and with formats that have no
/// special rules.
///
/// Every other message, valid or not, is left to ``NDEFRecordScanner``, the only place that knows all rules.
@usableFromInline
enum PlainMessage {
    /// Counts the records of a plain message.
    ///
    /// - Parameters:
    ///   - bytes: bytes that end where the message must end.
    ///   - start: the start of the message.
    /// - Returns: the count; nil when the message isn't plain or isn't valid.
    @inlinable
    @inline(__always)
    static func recordCount(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var offset = start
        var count = 0
        var begin = RecordHeader.messageBegin
        while let header = RecordHeader(bytes, at: offset) {
            guard header.flags & (RecordHeader.messageBegin | RecordHeader.chunk) == begin, header.isOfFreeFormat,
                header.bodyCount <= UInt64(bytes.count - offset - header.count)
            else { return nil }
            offset += header.count + Int(header.bodyCount)
            count += 1
            begin = 0
            if header.has(RecordHeader.messageEnd) { return offset == bytes.count ? count : nil }
        }
        return nil
    }

    /// Returns the record at an offset of a message that `recordCount` accepted.
    @inlinable
    @inline(__always)
    static func record(_ bytes: Span<UInt8>, at offset: Int) -> NDEFRecordReference? {
        RecordHeader(bytes, at: offset).map { NDEFRecordReference(header: $0, offset: offset) }
    }
}
