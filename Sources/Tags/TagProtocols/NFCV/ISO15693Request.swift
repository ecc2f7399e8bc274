// SPDX-License-Identifier: Apache-2.0

/// A request of ISO/IEC 15693-3, without its checksum.
public enum ISO15693Request {
    /// Builds a request.
    ///
    /// - Parameters:
    ///   - command: the command. For the codes from A0 on, the first parameter is the manufacturer's code.
    ///   - flags: the flags. `address` is added when there is a UID.
    ///   - uid: the tag's UID, starting with E0; nil for any tag, or for the selected one.
    ///   - parameters: the bytes after the UID.
    public static func make(
        _ command: ISO15693Command,
        flags: ISO15693RequestFlags = .highDataRate,
        uid: [UInt8]? = nil,
        _ parameters: [UInt8] = []
    ) -> [UInt8] {
        let all = uid == nil ? flags : flags.union(.address)
        return [all.rawValue, command.rawValue] + (uid ?? []).reversed() + parameters
    }
}
