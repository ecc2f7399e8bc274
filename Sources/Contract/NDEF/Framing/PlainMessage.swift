// SPDX-License-Identifier: Apache-2.0

/// The quick way through a message as almost all are: strict, without chunks, of formats that have no rules of their own.
///
/// Whatever is else, faults included, is left to ``NDEFRecordScanner``, which alone knows every rule.
@usableFromInline
enum PlainMessage {
    /// Counts the records of a plain message.
    ///
    /// - Parameters:
    ///   - bytes: octets that end where the message should.
    ///   - start: where the message begins.
    /// - Returns: the count; nil when the message isn't plain, or isn't one.
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

    /// The record at an offset of a message that was found to be plain.
    @inlinable
    @inline(__always)
    static func record(_ bytes: Span<UInt8>, at offset: Int) -> NDEFRecordReference? {
        RecordHeader(bytes, at: offset).map { NDEFRecordReference(header: $0, offset: offset) }
    }
}
