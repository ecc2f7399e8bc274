// SPDX-License-Identifier: Apache-2.0

/// UTF-16 as text records have it: big endian, unless a byte order mark says otherwise (RFC 2781).
enum UTF16Text {
    static func decode(_ payload: PayloadReader) throws(RecordError) -> (String, TextRecord.Encoding) {
        guard payload.count.isMultiple(of: 2) else { throw RecordError(.badEncoding) }
        var payload = payload
        var encoding = TextRecord.Encoding.utf16
        if payload.count >= 2 {
            switch (payload.bytes[payload.position], payload.bytes[payload.position + 1]) {
            case (0xFE, 0xFF): encoding = .utf16BigEndianMark
            case (0xFF, 0xFE): encoding = .utf16LittleEndianMark
            default: break
            }
            if encoding != .utf16 { _ = payload.take(2) }
        }
        var scalars = String.UnicodeScalarView()
        while let unit = nextUnit(&payload, encoding) {
            guard UTF16.isSurrogate(unit) else {
                guard let scalar = Unicode.Scalar(UInt32(unit)) else { throw RecordError(.badEncoding) }
                scalars.append(scalar)
                continue
            }
            guard UTF16.isLeadSurrogate(unit), let low = nextUnit(&payload, encoding), UTF16.isTrailSurrogate(low),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
            else { throw RecordError(.badEncoding) }
            scalars.append(scalar)
        }
        return (String(scalars), encoding)
    }

    static func encode(_ text: String, _ encoding: TextRecord.Encoding, into payload: inout [UInt8]) {
        let isLittleEndian = encoding == .utf16LittleEndianMark
        // Without a mark of its own, a text that begins with U+FEFF would be read without it.
        let needsMark = encoding == .utf16 && (text.utf16.first == 0xFEFF || text.utf16.first == 0xFFFE)
        let mark: [UInt16] = encoding == .utf16 && !needsMark ? [] : [0xFEFF]
        for unit in mark + Array(text.utf16) {
            let swapped = isLittleEndian ? unit.byteSwapped : unit
            payload.append(UInt8(truncatingIfNeeded: swapped >> 8))
            payload.append(UInt8(truncatingIfNeeded: swapped))
        }
    }

    private static func nextUnit(_ payload: inout PayloadReader, _ encoding: TextRecord.Encoding) -> UInt16? {
        payload.integer16().map { encoding == .utf16LittleEndianMark ? $0.byteSwapped : $0 }
    }
}
