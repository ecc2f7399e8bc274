// SPDX-License-Identifier: Apache-2.0

/// The result of the NDEF detection procedure.
public struct NDEFDetection: Sendable, Hashable {
    /// Whether a message can be written.
    public enum Access: Sendable, Hashable {
        case readWrite
        case readOnly
    }

    /// Whether a message can be written.
    public var access: Access
    /// The longest message that fits, in bytes.
    public var capacity: Int
    /// The length of the current message in bytes; 0 when the tag is empty.
    public var messageLength: Int

    /// Creates a result.
    public init(access: Access, capacity: Int, messageLength: Int) {
        self.access = access
        self.capacity = capacity
        self.messageLength = messageLength
    }
}
