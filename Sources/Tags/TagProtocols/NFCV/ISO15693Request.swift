// SPDX-License-Identifier: Apache-2.0

/// A request of ISO/IEC 15693-3, without its checksum.
public enum ISO15693Request {
    /// Builds a request.
    ///
    /// - Parameters:
    ///   - command: the command.
    ///   - flags: the flags. `address` is added when there is a UID.
    ///   - uid: the tag's UID, starting with E0; nil for any tag, or for the selected one.
    ///   - parameters: the bytes after the UID. The manufacturer's code of a custom command (codes A0 to DF) is the first,
    ///     and is sent before the UID (ISO/IEC 15693-3, 10.5).
    public static func make(
        _ command: ISO15693Command,
        flags: ISO15693RequestFlags = .highDataRate,
        uid: [UInt8]? = nil,
        _ parameters: [UInt8] = []
    ) -> [UInt8] {
        let all = uid == nil ? flags : flags.union(.address)
        let custom = parameters.prefix((0xA0...0xDF).contains(command.rawValue) ? 1 : 0)
        return [all.rawValue, command.rawValue] + custom + (uid ?? []).reversed() + parameters.dropFirst(custom.count)
    }
}
