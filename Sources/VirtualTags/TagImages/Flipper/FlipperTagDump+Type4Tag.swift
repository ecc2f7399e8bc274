// SPDX-License-Identifier: Apache-2.0
import TagLink
import VirtualTags

/// Files of Type 4 tags: the activation, and the message of the NDEF file in lines of 16 bytes.
///
/// They don't contain the capability container. A Flipper emulates its own one, and the virtual tag gets the same:
/// mapping version 2.0, an NDEF file E104 of 2048 bytes, readable and writable.
extension FlipperTagDump {
    /// The size of the NDEF file with its length field, unless the message needs more.
    private static let fileSize = 2048

    static func type4Tag(
        _ fields: FlipperFields,
        _ remarks: inout [TagImageRemark]
    ) throws(TagImageError) -> Type4Contents {
        let size = try fields.number("NDEF Data Size", in: 0...0x7FFD)
        let message = try fields.bytesOfAllLines("NDEF Data")
        guard message.count == size else {
            throw TagImageError(
                .inconsistent,
                "NDEF Data has \(message.count) bytes instead of the \(size) of NDEF Data Size; "
                    + "the file may have been cut off.",
                line: fields.line("NDEF Data Size")
            )
        }
        let text =
            "The file does not have the capability container; the virtual tag has the one that a Flipper emulates."
        remarks.append(TagImageRemark(.missing, text))
        return Type4Contents(frontEnd: try frontEndA(fields), kind: .ndef(files: files(message)))
    }

    /// Returns the files of a tag with a message.
    private static func files(_ message: [UInt8]) -> [UInt16: [UInt8]] {
        let size = max(fileSize, message.count + 2)
        // The maximum sizes of commands and answers are those of the firmware's buffer.
        let application = NDEFApplication(size: size, maximumRead: 246, maximumWrite: 246)
        var files = application.files
        let rest = [UInt8](repeating: 0, count: size - 2 - message.count)
        files[0xE104] = [UInt8](bigEndian: message.count, count: 2) + message + rest
        return files
    }

    /// Returns the lines of a tag; nil when it differs from what a Flipper emulates.
    static func fields(ofFiles files: [UInt16: [UInt8]]) -> [FlipperLine]? {
        guard let message = message(in: files), withoutRemains(files) == Self.files(message) else { return nil }
        let lines = stride(from: 0, to: message.count, by: 16).map { start in
            FlipperLine.field("NDEF Data", bytes: Array(message[start..<min(start + 16, message.count)]))
        }
        return [.comment("Type 4 Tag specific data"), .field("NDEF Data Size", String(message.count))] + lines
    }

    private static func message(in files: [UInt16: [UInt8]]) -> [UInt8]? {
        guard let file = files[0xE104], file.count >= 2 else { return nil }
        let count = Int(high: file[0], low: file[1])
        return count <= file.count - 2 ? Array(file[2..<(2 + count)]) : nil
    }

    /// Returns the files without the remains of older messages after the current one.
    static func withoutRemains(_ files: [UInt16: [UInt8]]) -> [UInt16: [UInt8]] {
        guard let message = message(in: files), let file = files[0xE104] else { return files }
        var files = files
        files[0xE104] = Array(file.prefix(2)) + message + Array(repeating: 0, count: file.count - 2 - message.count)
        return files
    }
}
