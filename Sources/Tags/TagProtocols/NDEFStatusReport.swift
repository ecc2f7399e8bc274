// SPDX-License-Identifier: Apache-2.0

/// The NDEF content of a tag, or the reason why it has none.
public struct NDEFStatusReport: Sendable, Hashable {
    /// The result of the detection procedure; nil when it found no NDEF.
    public var detection: NDEFDetection?
    /// The message's bytes, empty for an empty tag; nil when no message can be read.
    public var message: [UInt8]?
    /// The reason why the tag does not hold NDEF; nil when it does, or could.
    public var error: TagError?

    /// Creates a survey.
    public init(detection: NDEFDetection? = nil, message: [UInt8]? = nil, error: TagError? = nil) {
        self.detection = detection
        self.message = message
        self.error = error
    }
}
